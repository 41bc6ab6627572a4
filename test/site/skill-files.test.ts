import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import type { SkillChangesPage } from '#core/contract/changes.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { loadFileDifference } from '#site/lib/file-difference.ts'
import { loadSkillFiles } from '#site/lib/skill-files.ts'
import { answering, browsePage, COMMIT, filePage, refusal } from './support/answers.ts'

/* The bounds of the differences on the page of a skill. */

const ADDRESS = parseAddress('/local/acme/tools', ['local'])
const OLD = 'b'.repeat(40)
const sideOf = (commit: string) => ({ ref: null, commit, status: 'ready' }) as const

/** An API whose files have these texts, on both sides the same or before and after; it counts what it is asked. */
function clientOf(textOf: (path: string, isOld: boolean) => string | null) {
  const asked: string[] = []
  const client = createApiClient(
    answering({
      files: ({ address, query }) => {
        const path = query.get('path') ?? ''
        asked.push(path)
        const text = textOf(path, address.includes(OLD))
        if (text === null) return refusal(path.endsWith('.png') ? 'file.not_text' : 'file.not_found')
        const offset = Number(query.get('offset'))
        const end = Math.min(text.length, offset + Number(query.get('limit')))
        return filePage({
          path,
          content: text.slice(offset, end),
          offset,
          nextOffset: end < text.length ? end : null,
          totalLength: text.length,
          size: Buffer.byteLength(text),
          sha256: createHash('sha256').update(text).digest('hex'),
        })
      },
      browse: () => browsePage({ entries: [{ kind: 'file', path: 'a/logo.png', size: 812 }] }),
    }),
  )
  return { client, asked }
}

function pageOf(paths: readonly string[], nextCursor: string | null = null): SkillChangesPage {
  const causes = paths.map(path => ({ part: 'files', path, change: 'changed' }) as const)
  const skill = {
    kind: 'skill',
    path: 'a/SKILL.md',
    directory: 'a',
    name: 'a',
    change: 'changed',
    parts: ['files'],
    causes,
  } as const
  return {
    status: 'ready',
    commit: COMMIT,
    from: sideOf(OLD),
    to: sideOf(COMMIT),
    skill: { ...skill, parts: [...skill.parts], causes, before: null, after: null, facts: {} },
    metadata: { before: null, after: null },
    entries: [],
    diagnostics: [],
    nextCursor,
  }
}
const names = (count: number) => Array.from({ length: count }, (_, at) => `a/${at}.txt`)

test('files follow the last text of the skill', async () => {
  const { client, asked } = clientOf(() => 'text')
  expect(await loadSkillFiles(client, ADDRESS, pageOf(names(1), 'c1'))).toEqual([])
  expect(asked).toEqual([])
})

test('up to a limit they are compared, and further ones only named', async () => {
  const { client, asked } = clientOf((path, isOld) => `${path} ${isOld}\n`)
  const files = await loadSkillFiles(client, ADDRESS, pageOf(names(25)))
  expect(files.map(({ path }) => path)).toEqual(names(25))
  expect(files.filter(({ difference }) => difference !== null)).toHaveLength(20)
  expect(asked).toHaveLength(40)
})

test('a difference that does not fit is left to its own page, and shorter ones after it are shown', async () => {
  const { client } = clientOf((path, isOld) => `${isOld}${path === 'a/0.txt' ? 'x\n'.repeat(9_000) : ''}\n`)
  const files = await loadSkillFiles(client, ADDRESS, pageOf(names(2)))
  expect(files.map(({ difference }) => difference === null)).toEqual([false, false])
  const { client: other } = clientOf((path, isOld) => (path === 'a/0.txt' ? `${isOld}\n`.repeat(9_000) : `${isOld}\n`))
  const left = await loadSkillFiles(other, ADDRESS, pageOf(names(2)))
  expect(left.map(({ difference }) => difference === null)).toEqual([true, false])
})

test('a long file is not read to its end', async () => {
  const { client, asked } = clientOf((_, isOld) => `${isOld}\n`.repeat(60_000))
  const [file] = await loadSkillFiles(client, ADDRESS, pageOf(names(1)))
  expect(file?.difference).toBeNull()
  expect(asked).toHaveLength(2)
})

test('a long file is read whole on its own page', async () => {
  const { client } = clientOf((_, isOld) => `${'same line\n'.repeat(30_000)}${isOld}\n`)
  const place = (ref: string) => ({ address: { ...ADDRESS, ref }, path: 'a/0.txt' })
  const file = await loadFileDifference(client, place(OLD), place(COMMIT))
  expect(file?.pieces?.join('')).toContain('-true\n+false\n')
})

test('a file that is not text has its size, and one that neither side has is missing', async () => {
  const { client } = clientOf(() => null)
  const place = (path: string) => ({ address: ADDRESS, path })
  expect(await loadFileDifference(client, place('a/logo.png'), place('a/logo.png'))).toMatchObject({
    before: { size: 812, refusal: 'file.not_text' },
    after: { size: 812, refusal: 'file.not_text' },
    pieces: [],
  })
  expect(await loadFileDifference(client, place('a/none.txt'), place('a/none.txt'))).toBeNull()
})
