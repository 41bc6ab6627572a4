import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyNotes, type HostNotes, readNotes, rememberHost, writeNotes } from '#cli/reader/remembered-host.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import { readyMount } from '#test/site/support/answers.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

const COMMIT = 'c'.repeat(40) as CommitSha
const REPOSITORY: HostRepository = { ...readyMount().repository, host: 'gh', id: 'gh-1' }
const DOWN = { status: 'unavailable', retryAfterSeconds: null } as const
const MISSING = { status: 'missing' } as const

/** A command that runs `seconds` after the start, and asks for the repository and a ref. */
function scene(notes: HostNotes = emptyNotes()) {
  const asked: string[] = []
  const stale: Date[] = []
  let answer: HostAnswer<unknown> | 'up' = 'up'
  const answerTo = (question: string, value: unknown) => {
    asked.push(question)
    return answer === 'up' ? { status: 'ok', value } : answer
  }
  const host = {
    repository: async () => answerTo('repository', REPOSITORY),
    resolve: async () => answerTo('commit', COMMIT),
    async close() {},
  } as unknown as GitHost
  return {
    asked,
    stale,
    become: (next: typeof answer) => {
      answer = next
    },
    async ask(seconds: number, ref: string | null = null) {
      asked.length = 0
      const clock = { now: () => new Date(seconds * 1000) }
      const urls = { raw: () => '' }
      const remembered = rememberHost({
        segment: 'gh',
        urls,
        open: async () => host,
        notes,
        ref,
        clock,
        onStale: at => stale.push(at),
      })
      const repository = await remembered.repository('acme', 'tools')
      return [repository.status, (await remembered.resolve(REPOSITORY, ref)).status]
    },
  }
}

test('within a minute the host is not asked again', async () => {
  const { ask, asked } = scene()
  expect(await ask(0)).toEqual(['ok', 'ok'])
  expect(asked).toEqual(['repository', 'commit'])
  await ask(59)
  expect(asked).toEqual([])
  await ask(60)
  expect(asked).toEqual(['repository', 'commit'])
})

test('while it cannot be asked, what it said holds for ten minutes, and that is told once', async () => {
  const { ask, become, stale } = scene()
  await ask(0)
  become(DOWN)
  expect(await ask(599)).toEqual(['ok', 'ok'])
  expect(stale).toEqual([new Date(0)])
  expect(await ask(600)).toEqual(['unavailable', 'unavailable'])
  expect(await ask(100, 'other')).toEqual(['ok', 'unavailable'])
})

test('a full commit that was read holds for as long as it is noted, also if a branch had it', async () => {
  const { ask, become } = scene()
  await ask(0)
  become(DOWN)
  expect(await ask(1_000_000, COMMIT)).toEqual(['ok', 'ok'])
  expect(await ask(1_000_000, 'd'.repeat(40))).toEqual(['unavailable', 'unavailable'])
})

test('what the host does not show any more is forgotten', async () => {
  const { ask, become } = scene()
  await ask(0)
  become(MISSING)
  expect((await ask(61))[0]).toBe('missing')
  become(DOWN)
  expect(await ask(62)).toEqual(['unavailable', 'unavailable'])
})

test('notes are read as they were written; damaged ones are empty', async () => {
  const file = join(await temporaryFolder(), 'host.json')
  expect(await readNotes(file)).toEqual(emptyNotes())
  const notes: HostNotes = { ...emptyNotes(), commits: { '': { commit: COMMIT, askedAt: 1 } }, indexed: COMMIT }
  await writeNotes(file, notes)
  expect(await readNotes(file)).toEqual(notes)
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -2))
  expect(await readNotes(file)).toEqual(emptyNotes())
})
