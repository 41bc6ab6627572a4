import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { MANIFEST_IMAGE_BYTES, TREE_DEPTH_SEGMENTS, TREE_ENTRIES } from '#core/limits.ts'
import { memoryOfText } from '#core/memory.ts'
import type { Deps } from '../deps.ts'
import type { OpenMount, ReadyMount } from '../mount/open-mount.ts'
import { operatorPictureOf } from '../operator/operator-content.ts'
import type { CutPicture, Cutter } from './cutter.ts'

/** The picture that stands for an address, as pages show it. */
export interface MountPicture extends Pick<CutPicture, 'type' | 'bytes'> {
  /** Hash of the bytes; without quotes. */
  etag: string
}

export interface MountPictures {
  /**
   * The operator's picture, else the file of the repository that the nearest manifest names, cut to size. `null` where there is none that this
   * service may show: it fetches no URL that a manifest names, and copies no file whose license permits no copy.
   *
   * @param client who asks: clients take turns at the reading
   */
  get(mount: OpenMount, client: string): Promise<MountPicture | null>
}

/** Pixels. */
const WIDTH = 640
const HEIGHT = 1_280
const KEPT_BYTES = 16 * 1024 * 1024
const KEPT_MS = 60 * 60 * 1000
/** A picture that could not be read or cut is tried again after this time. */
const MISSING_MS = 60 * 1000
const ENTRY_BYTES = 512
/** Reading a file of a commit lists its tree, which for the largest repositories takes seconds. */
const READ_SECONDS = 20
const READS = { limit: 2, limitEach: 1, maxWaitingEach: 32, maxWaiting: 128 }

export function createMountPictures(deps: Pick<Deps, 'operator' | 'localSource'>, cutter: Cutter): MountPictures {
  const inTurn = createFairGate(READS)
  const cache = new LRUCache<string, { picture: MountPicture | null }, () => Promise<Uint8Array | null>>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ picture }, key) => ENTRY_BYTES + memoryOfText(key) + (picture?.bytes.length ?? 0),
    ttl: KEPT_MS,
    // Callers that wait get their picture, also if others evict it first.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context: read }) {
      const picture = await cut(await read().catch(nullUnlessFull))
      if (picture === null) options.ttl = MISSING_MS
      return { picture }
    },
  })

  /** @param bytes `null`: what cannot be read now has no picture, and pages have enough to show without it */
  async function cut(bytes: Uint8Array | null): Promise<MountPicture | null> {
    if (bytes === null) return null
    const outcome = await cutter.cut({ bytes, width: WIDTH, height: HEIGHT, fit: 'inside', type: 'same' })
    if (outcome.status !== 'done') return null
    const { type, bytes: result } = outcome.result
    return { type, bytes: result, etag: hash('sha256', result).slice(0, 32) }
  }

  async function keep(key: string, read: () => Promise<Uint8Array | null>): Promise<MountPicture | null> {
    const found = await cache.forceFetch(key, { context: read }).catch(nullIfFull)
    return found?.picture ?? null
  }

  return {
    async get(mount, client) {
      const medium = operatorPictureOf(deps.operator, mount.address)
      if (medium !== null)
        return await keep(`medium ${medium.name}`, () => readAll(medium.read({ firstByte: 0, lastByte: medium.sizeBytes - 1 })))
      const path = mount.status === 'ready' ? pathOf(deps, mount) : null
      if (path === null) return null
      return await keep(`file ${mount.repository.id} ${mount.commit} ${path}`, () => inTurn(client, () => readFile(mount, path)))
    },
  }
}

function nullUnlessFull(error: unknown): null {
  if (error instanceof GateFull) throw error
  return null
}

/** Where too many wait, there is none now, which says nothing about the picture. */
function nullIfFull(error: unknown): null {
  if (error instanceof GateFull) return null
  throw error
}

/** Path of the declared file, if it may be copied; of a remote repository too, since this service would copy it. */
function pathOf({ localSource }: Pick<Deps, 'localSource'>, { host, folder: { image } }: ReadyMount): string | null {
  if (image === undefined || 'url' in image) return null
  const mayCopy = image.describedOnlyBy === undefined || (!host.isRemote && localSource === 'open')
  return mayCopy ? image.path : null
}

/** The bytes of a regular file at the commit; `null` when there is none, or it is too large. @throws ReadError */
async function readFile({ host, repository, commit }: OpenMount, path: string): Promise<Uint8Array | null> {
  const limits = { treeEntries: TREE_ENTRIES, treeDepthSegments: TREE_DEPTH_SEGMENTS, seconds: READ_SECONDS }
  const reader = await host.open(repository, commit, limits, {
    usesOf: files => files.map(file => (file.path === path ? 'bytes' : 'nothing')),
    maxBytes: MANIFEST_IMAGE_BYTES,
  })
  try {
    let oid: string | null = null
    for await (const entry of reader.entries()) if (entry.path === path && entry.mode.startsWith('100')) oid = entry.oid
    if (oid === null) return null
    for await (const { bytes } of reader.read([oid], MANIFEST_IMAGE_BYTES)) return bytes
    return null
  } finally {
    await reader.close()
  }
}

async function readAll(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}
