import { expect, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import type { ChangeCount, ChangeItem, ChangesPage } from '#core/contract/changes.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { loadChangesList } from '#site/lib/changes-view.ts'
import { answering, COMMIT, refusal } from './support/answers.ts'

/* A list that is longer than a page of the API: pages of skills come before those of documents and manifests. */

const ADDRESS = parseAddress('/local/acme/tools', ['local'])
const SIDE = { ref: null, commit: COMMIT, status: 'ready' } as const
const NONE: ChangeCount = { added: 0, removed: 0, changed: 0, moved: 0 }
const SIZE = { sha256: null, bytes: 1, tokens: 1, license: { kind: 'open', name: 'MIT', source: null }, full: true } as const

const ITEMS: Readonly<Record<ChangeItem['kind'], (path: string) => ChangeItem>> = {
  skill: path => ({
    kind: 'skill',
    path,
    directory: path,
    name: path,
    change: 'added',
    parts: [],
    causes: [],
    before: null,
    after: { ...SIZE, complete: true },
    facts: {},
  }),
  document: path => ({ kind: 'document', path, title: path, change: 'added', parts: [], before: null, after: SIZE, facts: {} }),
  manifest: path => ({ kind: 'manifest', path, change: 'added', parts: [], skills: 0, before: null, after: null }),
}
type Drafts = readonly (readonly [ChangeItem['kind'], string])[]

/** The API with these pages; what it was asked is counted. */
function clientOf(pages: readonly Drafts[]) {
  const all = pages.flat()
  const count = (kind: ChangeItem['kind']) => ({ ...NONE, added: all.filter(([one]) => one === kind).length })
  const counts = { skills: count('skill'), documents: count('document'), manifests: count('manifest') }
  const asked: string[] = []
  const client = createApiClient(
    answering({
      changes: ({ query }) => {
        const cursor = query.get('cursor')
        asked.push(cursor ?? 'first')
        const index = cursor === null ? 0 : Number(/^c(\d+)$/.exec(cursor)?.[1] ?? Number.NaN)
        const page = pages[index]
        if (page === undefined) return refusal('request.invalid')
        const nextCursor = index + 1 < pages.length ? `c${index + 1}` : null
        const items = page.map(([kind, path]) => ITEMS[kind](path))
        const notCompared = { skills: 0, documents: 0 }
        const sides = { commit: COMMIT, from: SIDE, to: SIDE }
        return { status: 'ready', ...sides, path: '', counts, notCompared, items, diagnostics: [], nextCursor }
      },
    }),
  )
  return { client, asked }
}

async function pagesOf(pages: readonly Drafts[]) {
  const { client, asked } = clientOf(pages)
  const shown: string[] = []
  for (let cursor: string | undefined; ; ) {
    const result = await loadChangesList(client, ADDRESS, { from: 'v1', path: undefined, cursor })
    if (!result.ok) throw new Error(result.error.code)
    const { items, nextCursor } = result.answer as ChangesPage
    shown.push(items.map(({ kind, path }) => `${kind} ${path}`).join(', '))
    if (nextCursor === null) return { shown, asked }
    cursor = nextCursor
  }
}

test('a list of one page of the API is one page, by kind', async () => {
  const { shown, asked } = await pagesOf([
    [
      ['manifest', 'SKILLSET.md'],
      ['document', 'a.md'],
      ['skill', 'b'],
    ],
  ])
  expect(shown).toEqual(['skill b, document a.md, manifest SKILLSET.md'])
  expect(asked).toEqual(['first'])
})

test('a longer list has pages of each kind that differs, and every item once', async () => {
  const { shown } = await pagesOf([
    [
      ['document', 'a.md'],
      ['skill', 'b'],
    ],
    [
      ['document', 'c.md'],
      ['skill', 'd'],
    ],
  ])
  expect(shown).toEqual(['skill b, skill d', 'document a.md, document c.md'])
})

test('a page is made of few pages of the API, and links to the next one', async () => {
  const pages = Array.from({ length: 12 }, (_, at): Drafts => [[at === 11 ? 'skill' : 'document', `${at}`]])
  const { client, asked } = clientOf(pages)
  const result = await loadChangesList(client, ADDRESS, { from: 'v1', path: undefined, cursor: undefined })
  expect(result.ok && 'items' in result.answer && [result.answer.items, result.answer.nextCursor]).toEqual([[], 'skill~c5'])
  expect(asked).toHaveLength(5)
  const { shown } = await pagesOf(pages)
  expect(shown.filter(page => page !== '')[0]).toBe('skill 11')
  expect(shown.join(', ').match(/document \d+/g)).toHaveLength(11)
})

test('a cursor of another form is refused by the API', async () => {
  const { client } = clientOf([[['skill', 'a']]])
  const result = await loadChangesList(client, ADDRESS, { from: 'v1', path: undefined, cursor: 'other' })
  expect(result).toMatchObject({ ok: false, error: { code: 'request.invalid' } })
})
