import { createHash } from 'node:crypto'
import { ServiceError } from '#core/errors.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { ByteRange } from '#core/ports/raw-file.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { OPERATOR_BLOBS_PREFIX, OPERATOR_KEY, operatorBlobKey } from '#core/snapshot/store-keys.ts'
import { encodeText } from '#core/text.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { contentOf, NO_CONTENT, type OperatorContent, StoredContent } from './operator-content.ts'
import type { FolderContent } from './read-folder.ts'

/** The stores that published content lies in. */
export interface OperatorStores {
  blobs: BlobStore
  states: StateStore
}

/** What publishing changes, or would. */
export interface Publication {
  /** Media that the store lacks: their names and sizes. */
  uploads: { name: string; sizeBytes: number }[]
  /** Empty when the content is what is published. */
  changes: PublishedChange[]
}

interface PublishedChange {
  change: 'new' | 'changed' | 'removed'
  /** Of an entry: `showcase first`. */
  name: string
}

/**
 * Stores media under their hashes, then the content, then names the content in one write: readers see the old or the new. With `isDryRun`
 * nothing is written. Published content that is damaged is replaced.
 *
 * @throws Error when the store fails, or when another publication came between
 */
export async function publishContent(stores: OperatorStores, folder: FolderContent, isDryRun: boolean): Promise<Publication> {
  const { content, media } = folder
  const entry = await stores.states.read(OPERATOR_KEY)
  const before = entry && (await readContentAt(stores.blobs, entry.value).catch(nullIfDamaged))
  const isDamaged = entry !== null && before === null
  const changes = describeChanges(before, content)
  const bytes = encodeText(JSON.stringify(content))
  const hash = createHash('sha256').update(bytes).digest('hex')
  const files = new Map([...[...media].map(([name, one]) => [name, one.bytes] as const), [`${hash}.json`, bytes]])
  const missing = await missingFrom(stores.blobs, files)
  const uploads = content.media.filter(({ name }) => missing.has(name)).map(({ name, sizeBytes }) => ({ name, sizeBytes }))
  if (isDryRun || (changes.length === 0 && uploads.length === 0 && !isDamaged)) return { uploads, changes }
  // What exists is not written again, so a damaged value of the same name goes first.
  if (isDamaged) await stores.blobs.remove(operatorBlobKey(`${hash}.json`))
  await upload(stores.blobs, files)
  const value = { content: hash }
  const written = entry
    ? await stores.states.replace(OPERATOR_KEY, value, entry.etag)
    : await stores.states.create(OPERATOR_KEY, value)
  if (written.status === 'conflict') throw new SentenceError(t('problem.publishedMeanwhile'))
  // A sweep may have removed what an earlier publication had left, until the entry named it again.
  await upload(stores.blobs, files)
  return { uploads, changes }
}

type Files = ReadonlyMap<string, Uint8Array>

/** Names of the files that the store lacks. */
async function missingFrom(blobs: BlobStore, files: Files): Promise<ReadonlySet<string>> {
  const held = new Set(await blobs.list(OPERATOR_BLOBS_PREFIX))
  return new Set([...files.keys()].filter(name => !held.has(operatorBlobKey(name))))
}

async function upload(blobs: BlobStore, files: Files): Promise<void> {
  for (const name of await missingFrom(blobs, files))
    await blobs.create(operatorBlobKey(name), files.get(name) ?? new Uint8Array())
}

function describeChanges(before: StoredContent | null, after: StoredContent): PublishedChange[] {
  const parts = (content: StoredContent | null) =>
    new Map<string, string>([
      ...(content?.featured ?? []).map((one, index): [string, string] => [
        `featured ${one.address}`,
        JSON.stringify([index, one]),
      ]),
      ...(content?.showcase ?? []).map((one): [string, string] => [`showcase ${one.id}`, JSON.stringify(one)]),
      ...(content?.legal ?? []).map((one): [string, string] => [`legal ${one.kind}`, JSON.stringify(one)]),
    ])
  const [old, now] = [parts(before), parts(after)]
  return [
    ...[...now].flatMap(([name, value]): PublishedChange[] => {
      const earlier = old.get(name)
      return earlier === value ? [] : [{ change: earlier === undefined ? 'new' : 'changed', name }]
    }),
    ...[...old.keys()].filter(name => !now.has(name)).map(name => ({ change: 'removed', name }) as const),
  ]
}

/** The content that is served now. */
export interface OperatorSource {
  current(): OperatorContent
  /** Looks for newer content, and takes it. Never rejects. */
  refresh(): Promise<void>
}

/** Content that never changes. */
export function fixedSource(content: OperatorContent): OperatorSource {
  return { current: () => content, async refresh() {} }
}

/** The published content, as of the last `refresh`. Until something is published there is none. */
export function publishedSource(stores: OperatorStores, baseUrl: string, fallbacks: Fallbacks): OperatorSource {
  let current = NO_CONTENT
  let currentHash: string | null = null
  return {
    current: () => current,
    async refresh() {
      try {
        const entry = await stores.states.read(OPERATOR_KEY)
        const hash = entry && hashOf(entry.value)
        if (hash === currentHash) return
        const stored = hash === null ? null : await readContent(stores.blobs, hash)
        current =
          stored === null ? NO_CONTENT : contentOf(stored, baseUrl, name => range => readMedium(stores.blobs, name, range))
        currentHash = hash
      } catch (error) {
        fallbacks.note('operator_content', error)
      }
    },
  }
}

/** The published content is damaged: reading it fails until the operator publishes again. */
class DamagedContent extends Error {}

function nullIfDamaged(error: unknown): null {
  if (error instanceof DamagedContent) return null
  throw error
}

/** @throws DamagedContent, or an error of the store */
async function readContentAt(blobs: BlobStore, value: unknown): Promise<StoredContent> {
  return await readContent(blobs, hashOf(value))
}

/** The hash in the entry. @throws DamagedContent when it has none */
function hashOf(value: unknown): string {
  const { content } = (value ?? {}) as { content?: unknown }
  if (typeof content === 'string' && /^[0-9a-f]{64}$/.test(content)) return content
  throw new DamagedContent('the entry of published content is damaged: publish again')
}

/** @throws DamagedContent when it is not there, or is not what its hash says, or an error of the store */
async function readContent(blobs: BlobStore, hash: string): Promise<StoredContent> {
  const blob = await blobs.read(operatorBlobKey(`${hash}.json`))
  const found = blob && createHash('sha256').update(blob.bytes).digest('hex')
  if (blob === null || found !== hash) throw new DamagedContent('published content is missing or damaged: publish again')
  const content = StoredContent.safeParse(JSON.parse(new TextDecoder().decode(blob.bytes)))
  if (!content.success) throw new DamagedContent('published content has another form: publish again')
  return content.data
}

const CHUNK_BYTES = 1024 * 1024

async function* readMedium(blobs: BlobStore, name: string, { firstByte, lastByte }: ByteRange): AsyncGenerator<Uint8Array> {
  for (let at = firstByte; at <= lastByte; ) {
    const bytes = await blobs.readRange(operatorBlobKey(name), at, Math.min(CHUNK_BYTES, lastByte + 1 - at))
    if (bytes === null || bytes.length === 0)
      throw new ServiceError('skill.unavailable', { message: 'the medium cannot be read now' })
    yield bytes
    at += bytes.length
  }
}
