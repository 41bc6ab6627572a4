import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { createLimit } from '#core/concurrency/fair-gate.ts'
import { ServiceError } from '#core/errors.ts'
import { ArchiveWriter } from '#core/tar-archive.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { listFiles, type SkillPackage } from './packages.ts'

/** An archive, and its bytes once more compressed for the way: it is not compressed itself, so that its digest follows from its files. */
export interface Archive {
  bytes: Uint8Array
  compressed: Uint8Array
}

/** Archives of packages. Nothing is stored: the last ones are kept in memory. */
export interface Archives {
  /** @throws ServiceError `skill.unavailable` when the stored files do not give the archive that the index promised */
  build(snapshot: Snapshot, one: SkillPackage): Promise<Archive>
}

const CACHE_BYTES = 48 * 1024 * 1024
/** Archives that are made at once; each takes up to three times its size. */
const AT_ONCE = 2

export function createArchives(): Archives {
  const limit = createLimit(AT_ONCE)
  const cache = new LRUCache<string, Archive, Parameters<Archives['build']>>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes, compressed }) => bytes.length + compressed.length,
    // Callers that wait get their archive, also if others evict it first.
    ignoreFetchAbort: true,
    fetchMethod: (_sha256, _stale, { context }) => limit(() => makeArchive(...context)),
  })
  return { build: (snapshot, one) => cache.forceFetch(one.archive.sha256, { context: [snapshot, one] }) }
}

const compress = promisify(gzip)

async function makeArchive(snapshot: Snapshot, one: SkillPackage): Promise<Archive> {
  const parts: Uint8Array[] = []
  const writer = new ArchiveWriter(crc32, bytes => parts.push(bytes))
  for (const file of await listFiles(snapshot, one)) {
    const bytes = await snapshot.record(file.record)
    if (bytes.length !== file.sizeBytes) throw notAsPromised(one)
    writer.add(file, bytes)
  }
  writer.end()
  const bytes = Buffer.concat(parts)
  if (hash('sha256', bytes, 'hex') !== one.archive.sha256) throw notAsPromised(one)
  return { bytes, compressed: await compress(bytes) }
}

function notAsPromised({ path }: SkillPackage): ServiceError {
  return new ServiceError('skill.unavailable', { cause: new Error(`the files of ${path} do not give its archive`) })
}
