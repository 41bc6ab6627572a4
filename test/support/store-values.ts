import { createHash } from 'node:crypto'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import { KEY_BYTES } from '#core/ports/store-arguments.ts'
import type { Clock } from '#core/ports/system.ts'

/** Bytes that follow from the name alone, so that a reader in another process knows them: 1 to 200 KB. */
export function bytesOf(name: string): Uint8Array {
  const seed = createHash('sha256').update(name).digest()
  return Buffer.alloc(1_000 + seed.readUInt16BE() * 3, seed)
}

/** A repository and a commit, where any will do. */
export const REPOSITORY: HostRepository = {
  id: 'local-1',
  host: 'local',
  owner: 'acme',
  name: 'handbook',
  defaultBranch: 'main',
  description: null,
  avatar: null,
  visibility: 'public',
}
export const COMMIT = 'c0ffee'.padEnd(40, '0') as CommitSha

/** For each number a job of a repository of its own. */
export function jobOf(number: number): IndexJob {
  const repository: HostRepository = {
    id: `test-${number}`,
    host: 'test',
    owner: 'acme',
    name: `tools-${number}`,
    defaultBranch: 'main',
    description: null,
    avatar: null,
    visibility: 'public',
  }
  return { repository, commit: createHash('sha1').update(String(number)).digest('hex') as CommitSha }
}

/** A clock that moves only when told. */
export function handClock(start = '2026-03-01T12:00:00.000Z'): Clock & { advance(seconds: number): void } {
  let nowMs = Date.parse(start)
  return {
    now: () => new Date(nowMs),
    advance: seconds => {
      nowMs += seconds * 1000
    },
  }
}

/** What no driver takes as a key. */
export const BAD_KEYS = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  '../a',
  'a/../b',
  'a/.',
  'A',
  'a b',
  'a~',
  'a\\b',
  'a\0',
  'ä',
  'a\n',
  'x'.repeat(255),
  `${'x/'.repeat(KEY_BYTES / 2)}x`,
]

export const BAD_PREFIXES = ['/', '/a', 'a//', '../', 'a/../', 'A', 'a~', 'a*', '%']

/** Keys whose order is easily got wrong, in byte order. */
export const ORDERED_KEYS = [
  'a',
  'a-b',
  'a-b/c',
  'a.b',
  'a/b',
  'a/b-c',
  'a/b/c',
  'a/b/c/d',
  'a/b0',
  'a0',
  'a_',
  'aa',
  'b/a',
  'b/b',
]
