import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { ServiceError } from '#core/errors.ts'
import { UNUSED_PACK_HOURS } from '#core/limits.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { DamagedBytes, parseStoredJson } from '#core/snapshot/damage.ts'
import { HEADER_BYTES, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import type { Cache, Loaded } from './cache.ts'
import { askStore, DamagedSnapshot, isDamage, orUnavailable, ReplacedSnapshot } from './unavailable.ts'

/** Reads and caches the headers of snapshots, and reports damaged snapshots. */
export interface Headers {
  /**
   * The header of a commit; `null` when it is not indexed.
   *
   * @throws ServiceError `skill.unavailable`
   */
  open(repository: HostRepository, commit: CommitSha): Promise<StoredHeader | null>

  /**
   * Runs a read of bytes that the header refers to. If they are damaged or missing, reads the header again: either the snapshot was replaced,
   * or it is damaged, which is reported.
   *
   * @throws ServiceError `skill.unavailable` with cause `ReplacedSnapshot` or `DamagedSnapshot`, and other errors of the read
   */
  withDamageCheck<Value>(repository: HostRepository, stored: StoredHeader, read: () => Promise<Value>): Promise<Value>
}

/** A header as it was read from the store. */
export interface StoredHeader {
  header: SnapshotHeader
  createdAt: Date
  /** Of the bytes and the time of writing: a header that was written again has another one, unless the store gives both the same time. */
  digest: string
}

/** A damaged snapshot. */
export interface SnapshotDamage {
  repository: HostRepository
  commit: CommitSha
  /** This process reports it for the first time. */
  isNew: boolean
  cause: unknown
}

/** Called for each damaged snapshot. The read waits for it; its errors are fallbacks. */
export type OnDamage = (damage: SnapshotDamage) => Promise<void>

/** A sweep may remove a header that is read every day. A reader notices that long before the packs of the header are removed. */
const KEPT_MS = (UNUSED_PACK_HOURS / 2) * 3_600_000
/** How many reported snapshots are remembered. */
const REPORTED_SNAPSHOTS = 1_000
/** Memory of parsed JSON, as a multiple of its text. */
const PARSED_FACTOR = 4
/** Memory of one location of the search section. There may be thousands, of a few characters each. */
const LOCATION_BYTES = 48

const unpack = promisify(gunzip)

/**
 * @param cache holds the headers, by their keys in the store
 * @param fallbacks is told of every report of damage that is lost
 */
export function createHeaders(blobs: BlobStore, cache: Cache, onDamage: OnDamage, fallbacks: Fallbacks): Headers {
  const report = createDamageReporter(onDamage, fallbacks)

  async function load(repository: HostRepository, commit: CommitSha): Promise<Loaded<StoredHeader> | null> {
    const key = headerKey(repository, commit)
    const blob = await orUnavailable(key, () => askStore(blobs.read(key)))
    if (blob === null) return null
    const { bytes, createdAt } = blob
    const digest = `${hash('sha256', bytes)} ${createdAt.getTime()}`
    try {
      const { header, sizeBytes } = await orUnavailable(key, () => parseHeader(bytes, repository, commit))
      return { value: { header, createdAt, digest }, sizeBytes, ttlMs: KEPT_MS }
    } catch (error) {
      throw isDamage(error) ? await report(repository, commit, digest, error) : error
    }
  }

  function open(repository: HostRepository, commit: CommitSha): Promise<StoredHeader | null> {
    return cache.get(headerKey(repository, commit), () => load(repository, commit))
  }

  /** The error to throw after a read that failed with damage. */
  async function explainDamage(repository: HostRepository, stored: StoredHeader, error: unknown): Promise<ServiceError> {
    const commit = stored.header.commit as CommitSha
    cache.forget(headerKey(repository, commit), stored)
    const current = await open(repository, commit)
    if (current?.digest === stored.digest) return await report(repository, commit, stored.digest, error)
    const cause = new ReplacedSnapshot('the snapshot was replaced since it was opened', { cause: error })
    return new ServiceError('skill.unavailable', { cause })
  }

  return {
    open,
    async withDamageCheck(repository, stored, read) {
      try {
        return await read()
      } catch (error) {
        throw isDamage(error) ? await explainDamage(repository, stored, error) : error
      }
    },
  }
}

/** Reports a damaged snapshot, and returns the error to throw. Parallel reports of one snapshot are a single flight. */
type DamageReporter = (repository: HostRepository, commit: CommitSha, digest: string, cause: unknown) => Promise<ServiceError>

function createDamageReporter(onDamage: OnDamage, fallbacks: Fallbacks): DamageReporter {
  const reported = new LRUCache<string, true>(entriesAtMost(REPORTED_SNAPSHOTS))
  const reports = createSingleFlight<void>()
  return async (repository, commit, digest, cause) => {
    const subject = `${repository.id} at ${commit}`
    const isNew = !reported.has(`${subject} ${digest}`)
    reported.set(`${subject} ${digest}`, true)
    const lost = (error: unknown) => fallbacks.note('damage_report', error)
    await reports.run(subject, () => onDamage({ repository, commit, isNew, cause }).catch(lost))
    return new ServiceError('skill.unavailable', {
      cause: new DamagedSnapshot(`the snapshot of ${subject} is damaged`, { cause }),
    })
  }
}

async function parseHeader(stored: Uint8Array, repository: HostRepository, commit: CommitSha) {
  const bytes = await unpack(stored, { maxOutputLength: HEADER_BYTES })
  const header = SnapshotHeader.parse(parseStoredJson(bytes.toString('utf8')))
  if (header.commit !== commit || header.repositoryId !== repository.id)
    throw new DamagedBytes(`the header is of ${header.repositoryId} at ${header.commit}`)
  return { header, sizeBytes: bytes.length * PARSED_FACTOR + (header.search?.segments.length ?? 0) * LOCATION_BYTES }
}
