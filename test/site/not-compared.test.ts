import { expect, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { loadUncompared } from '#site/lib/not-compared.ts'
import { answering, COMMIT } from './support/answers.ts'

/* The items that a comparison cannot compare, which the interface counts alone. */

const ADDRESS = parseAddress('/local/acme/tools', ['local'])
const LICENSE = { kind: 'restricted', name: 'Proprietary', source: 'LICENSE' } as const
const closed = { license: LICENSE, describedOnly: true } as const

const skill = (path: string) => ({ path, name: path.split('/').at(-2) ?? 'root', description: 'Use it.', translations: {} })
const folderOfSkill = (directory: string, isClosed: boolean, skills = 1): BrowseEntry => ({
  kind: 'directory',
  path: directory,
  counts: { skills, documents: 0 },
  skill: skill(`${directory}/SKILL.md`),
  ...(isClosed ? closed : {}),
})
const fileOfSkill = (directory: string): BrowseEntry => ({
  kind: 'file',
  path: directory === '' ? 'SKILL.md' : `${directory}/SKILL.md`,
  size: 1,
  skill: skill(directory === '' ? 'SKILL.md' : `${directory}/SKILL.md`),
  ...closed,
})
const folder = (path: string, skills: number, documents = 0): BrowseEntry => ({
  kind: 'directory',
  path,
  counts: { skills, documents },
})
const document = (path: string): BrowseEntry => ({ kind: 'file', path, size: 1, title: path, ...closed })
const other = (path: string): BrowseEntry => ({ kind: 'file', path, size: 1, ...closed })

function clientOf(folders: Readonly<Record<string, readonly BrowseEntry[][]>>) {
  const asked: string[] = []
  const client = createApiClient(
    answering({
      browse: ({ query }) => {
        const path = query.get('path') ?? ''
        const page = Number(query.get('cursor') ?? 0)
        asked.push(path)
        const pages = folders[path] ?? []
        const nextCursor = page + 1 < pages.length ? String(page + 1) : null
        return { status: 'ready', commit: COMMIT, path, entries: [...(pages[page] ?? [])], diagnostics: [], nextCursor }
      },
    }),
  )
  return { client, asked }
}

test('each skill and document is named once, with its license, across folders and pages of them', async () => {
  const { client } = clientOf({
    '': [
      [fileOfSkill(''), other('LICENSE')],
      [folder('skills', 3), folder('docs', 0, 1), folder('src', 0)],
    ],
    skills: [[folderOfSkill('skills/a', false), folderOfSkill('skills/b', true, 2)]],
    'skills/b': [[fileOfSkill('skills/b'), folder('skills/b/deep', 1)]],
    'skills/b/deep': [[folderOfSkill('skills/b/deep/c', true)]],
    docs: [[document('docs/guide.md')]],
  })
  const found = await loadUncompared(client, ADDRESS, { path: '', notCompared: { skills: 3, documents: 1 } })
  expect(found.map(({ kind, path, license }) => [kind, path, license.name])).toEqual([
    ['skill', 'SKILL.md', 'Proprietary'],
    ['document', 'docs/guide.md', 'Proprietary'],
    ['skill', 'skills/b/SKILL.md', 'Proprietary'],
    ['skill', 'skills/b/deep/c/SKILL.md', 'Proprietary'],
  ])
})

test('no folder is read after the last one is found, and of many folders not all are', async () => {
  const few = clientOf({ '': [[folderOfSkill('a', true), folder('b', 9)]] })
  expect(await loadUncompared(few.client, ADDRESS, { path: '', notCompared: { skills: 1, documents: 0 } })).toHaveLength(1)
  expect(few.asked).toEqual([''])
  const names = Array.from({ length: 500 }, (_, at) => `f${at}`)
  const many = clientOf({ '': [names.map(name => folder(name, 1))] })
  expect(await loadUncompared(many.client, ADDRESS, { path: '', notCompared: { skills: 500, documents: 0 } })).toEqual([])
  expect(many.asked.length).toBeLessThan(100)
})
