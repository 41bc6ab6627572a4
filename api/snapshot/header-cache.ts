import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { ServiceError } from '#core/errors.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { HEADER_BYTES, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import type { Cache, Loaded } from './cache.ts'
import { askStore, DamagedSnapshot, isDamage, orUnavailable, ReplacedSnapshot } from './unavailable.ts'

/** Headers of snapshots, kept in memory; and what it means when bytes are not those that a header tells of. */
export interface Headers {
  /**
   * `null` when the commit is not indexed.
   * @throws ServiceError `skill.unavailable`
   */
  open(repository: HostRepository, commit: CommitSha): Promise<StoredHeader | null>

  /**
   * Does a read of what the header tells of. Where bytes turn out to be damaged or gone, the header is read once more: either it is another
   * one by now, or the snapshot is damaged, which is told to whoever can have it repaired.
   *
   * @throws ServiceError `skill.unavailable` of cause `ReplacedSnapshot` or `DamagedSnapshot`, and whatever else the read throws
   */
  watch<Value>(repository: HostRepository, stored: StoredHeader, read: () => Promise<Value>): Promise<Value>
}

export interface StoredHeader {
  header: SnapshotHeader
  createdAt: Date
  /** Tells it from every other header of the commit. */
  digest: string
}

/** A snapshot is not what was written. */
export interface SnapshotDamage {
  repository: HostRepository
  commit: CommitSha
  /** This process tells of it for the first time. */
  isNew: boolean
  cause: unknown
}

/** Waited for. Its failures are not heard. */
export type OnDamage = (damage: SnapshotDamage) => Promise<void>

/** Damaged snapshots of which it is known that they were told of. */
const TOLD = 1_000
/** Parsed JSON takes about this many times its text. */
const PARSED_FACTOR = 4
/** There may be thousands of locations, which take few characters each. */
const LOCATION_BYTES = 48

const unpack = promisify(gunzip)

export function createHeaders(blobs: BlobStore, cache: Cache, onDamage: OnDamage): Headers {
  const told = new LRUCache<string, true>({ max: TOLD })
  const reports = createSingleFlight<void>()

  async function damaged(repository: HostRepository, commit: CommitSha, digest: string, cause: unknown): Promise<ServiceError> {
    const subject = `${repository.id} at ${commit}`
    const isNew = !told.has(`${subject} ${digest}`)
    told.set(`${subject} ${digest}`, true)
    await reports.run(subject, () => onDamage({ repository, commit, isNew, cause }).catch(() => {}))
    return new ServiceError('skill.unavailable', {
      cause: new DamagedSnapshot(`the snapshot of ${subject} is damaged`, { cause }),
    })
  }

  async function load(repository: HostRepository, commit: CommitSha): Promise<Loaded<StoredHeader> | null> {
    const key = headerKey(repository, commit)
    const blob = await orUnavailable(key, () => askStore(blobs.read(key)))
    if (blob === null) return null
    const { bytes, createdAt } = blob
    const digest = `${hash('sha256', bytes)} ${createdAt.getTime()}`
    try {
      const { header, size } = await orUnavailable(key, () => parseHeader(bytes, repository, commit))
      return { value: { header, createdAt, digest }, size }
    } catch (error) {
      throw await damaged(repository, commit, digest, error)
    }
  }

  function open(repository: HostRepository, commit: CommitSha): Promise<StoredHeader | null> {
    return cache.get(headerKey(repository, commit), () => load(repository, commit))
  }

  return {
    open,
    async watch(repository, stored, read) {
      try {
        return await read()
      } catch (error) {
        if (!isDamage(error)) throw error
        const commit = stored.header.commit as CommitSha
        cache.forget(headerKey(repository, commit), stored)
        const current = await open(repository, commit)
        if (current?.digest === stored.digest) throw await damaged(repository, commit, stored.digest, error)
        const cause = new ReplacedSnapshot('the snapshot is another one by now', { cause: error })
        throw new ServiceError('skill.unavailable', { cause })
      }
    },
  }
}

async function parseHeader(stored: Uint8Array, repository: HostRepository, commit: CommitSha) {
  const bytes = await unpack(stored, { maxOutputLength: HEADER_BYTES })
  const header = SnapshotHeader.parse(JSON.parse(bytes.toString('utf8')))
  if (header.commit !== commit || header.repositoryId !== repository.id) throw new Error('the header is of another commit')
  return { header, size: bytes.length * PARSED_FACTOR + (header.search?.segments.length ?? 0) * LOCATION_BYTES }
}
