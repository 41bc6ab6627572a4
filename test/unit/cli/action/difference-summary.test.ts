import { expect, test } from 'vitest'
import { differenceSummary } from '#cli/action/difference.ts'
import type { Cause, ChangeItem } from '#core/contract/changes.ts'
import type { Compared } from '#indexer/check/difference.ts'

const LICENSE = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const SIDE = { sha256: null, bytes: 1, tokens: 1, license: LICENSE, full: true, complete: true }

function skill(path: string, causes: readonly Cause[] = [], host?: string): ChangeItem {
  const directory = path.replace('/SKILL.md', '')
  const facts = host === undefined ? {} : { hosts: [{ host, path, line: 1 }] }
  const parts = [...new Set(causes.map(({ part }) => part))]
  return {
    kind: 'skill',
    path,
    directory,
    name: directory,
    change: 'changed',
    parts,
    causes: [...causes],
    before: SIDE,
    after: SIDE,
    facts,
  }
}
const document = (path: string): ChangeItem => ({
  kind: 'document',
  path,
  title: path,
  change: 'changed',
  parts: ['body'],
  before: SIDE,
  after: SIDE,
  facts: {},
})
const manifest = (path: string): ChangeItem => ({
  kind: 'manifest',
  path,
  change: 'changed',
  parts: ['rules'],
  skills: 1,
  before: null,
  after: null,
})
const filesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, at): Cause => ({ part: 'files', path: `${name}/file-${at}.txt`, change: 'changed' }))

const none = { added: 0, removed: 0, changed: 0, moved: 0 }
const compared = (items: ChangeItem[]): Compared => ({
  format: 1,
  status: 'compared',
  from: { ref: 'main', commit: 'a'.repeat(40) },
  to: { commit: 'b'.repeat(40) },
  path: '',
  counts: { skills: none, documents: none, manifests: none },
  notCompared: { skills: 0, documents: 0 },
  items,
  errors: [],
  diagnostics: [],
  truncated: false,
})
/** Lines of a text, from the one with the words on. */
const after = (text: string, words: string) => text.slice(text.indexOf(words))

test('skills stand before documents, and manifests last', () => {
  const text = differenceSummary(compared([manifest('SKILLSET.md'), document('a.md'), skill('z/SKILL.md')]), [])
  expect([...text.matchAll(/\| ~ \| <code>([^<]*)<\/code>/g)].map(([, path]) => path)).toEqual([
    'z/SKILL.md',
    'a.md',
    'SKILLSET.md',
  ])
})

test('files behind a change that are only counted open on a click', () => {
  const text = differenceSummary(compared([skill('a/SKILL.md', filesOf('a', 5))]), [])
  const [, short, whole] = /<details><summary>(.*?)<\/summary>(.*?)<\/details>/.exec(text) ?? []
  expect(short).toBe('files by a/file-0.txt, a/file-1.txt, a/file-2.txt and 2 more')
  expect(whole).toContain('a/file-3.txt, a/file-4.txt')
})

test('rows after the first hundred open on a click, as a table of their own', () => {
  const items = Array.from({ length: 130 }, (_, at) => document(`docs/${at}.md`))
  const rest = after(differenceSummary(compared(items), []), '<details><summary>And 30 more</summary>')
  expect(rest.split('\n').slice(1, 4)).toEqual(['', '| | What | Change | Tokens |'.replace('| |', '|  |'), '|---|---|---|---|'])
  expect(rest.match(/docs\/\d+\.md/g)).toHaveLength(30)
  expect(rest.trimEnd().endsWith('\n\n</details>')).toBe(true)
})

test('skills that share a fact open after the first twenty', () => {
  const items = Array.from({ length: 25 }, (_, at) =>
    skill(`skill-${at}/SKILL.md`, [{ part: 'rules', path: 'SKILLSET.md', change: 'changed' }]),
  )
  const shared = items.map(item => ({ ...item, facts: { hosts: [{ host: 'x.example', path: 'SKILLSET.md' }] } }) as ChangeItem)
  const text = differenceSummary(compared(shared), [])
  const fact = text.split('\n').find(line => line.includes('x.example')) ?? ''
  expect(fact).toContain('<details><summary>and 5 more</summary><code>skill-20/SKILL.md</code><br>')
  expect(fact).toContain('skill-24/SKILL.md')
})

test('a summary too large for GitHub counts the rest', () => {
  const items = Array.from({ length: 6_000 }, (_, at) => document(`${'long-folder-name/'.repeat(10)}${at}.md`))
  const text = differenceSummary(compared(items), [])
  expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024)
  expect(text).toContain('<summary>And 5900 more</summary>')
  expect(text).toContain('and 4900 more, which <code>mountglass diff --all</code> prints')
})
