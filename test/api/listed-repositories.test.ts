import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listedRepositories } from '#api/front/search.ts'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const OPEN = '/local/acme/open'
const CLIENT = '192.0.2.1'
const ALL = [OPEN, '/local/acme/closed', '/local/acme/none', '/local/acme/empty', '/local/acme/unread']
let app: TestApp
let listed: ListedRepositories

beforeAll(async () => {
  const skill = { 'pdf/SKILL.md': skillText('pdf', 'Fill the violet form.\n') }
  app = await testApp({
    'acme/open': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Open\ndescription: What is open.\nexclude: [hidden/**]\n---\n',
      ...skill,
      'hidden/SKILL.md': skillText('excluded-pdf', 'An excluded violet text.\n'),
      'kept/SKILL.md': skillText('kept-pdf', 'A withheld violet text.\n', 'license: Proprietary\n'),
    },
    'acme/closed': skill,
    'acme/unread': skill,
    'acme/empty': {},
  })
  await writeFile(join(app.repository('acme/closed').gitDir, 'mountglass-private'), '')
  await app.open(OPEN)
  listed = listedRepositories(app.deps)
})
afterAll(() => app.close())

test('a list tells facts of what is indexed, and of a private repository what it tells of none', async () => {
  const peeked = await listed.peek(ALL)
  expect(peeked.map(one => one?.state.kind ?? null)).toEqual(['ready', null, null, 'empty', 'unread'])
  expect(peeked[0]?.state).toMatchObject({
    facts: {
      sentence: 'What is open.',
      skills: 2,
      withheld: 1,
      license: { kind: 'open', name: 'MIT' },
      changedAt: expect.any(String),
    },
  })
  expect(JSON.stringify(peeked)).not.toMatch(/closed|hidden|excluded/)
  expect(await app.queue.depth()).toBe(0)
})

test('a search finds skills of what is indexed, names what is not, and starts nothing', async () => {
  const searched = await listed.search(ALL, 'pdf', CLIENT)
  expect(searched?.found.map(({ address, skills }) => [address, skills.map(({ name }) => name)])).toEqual([
    [OPEN, ['pdf', 'kept-pdf']],
  ])
  expect(searched).toMatchObject({ unread: ['/local/acme/unread'], isCut: false })
  expect(JSON.stringify(searched)).not.toMatch(/closed|excluded|withheld violet/)
  expect(await app.queue.depth()).toBe(0)
})

test('words of an excluded or withheld text find nothing of it', async () => {
  const names = async (query: string) =>
    (await listed.search(ALL, query, CLIENT))?.found.flatMap(({ skills }) => skills.map(({ name }) => name))
  expect(await names('violet')).toEqual(['pdf'])
  expect(await names('excluded')).toEqual([])
  expect(await names('withheld')).toEqual([])
})

test('a client that asks for many searches is refused some, and keeps no other from its answer', async () => {
  const search = (client: string, index: number) => listed.search(ALL, `form ${index}`, client)
  const many = Array.from({ length: 50 }, (_, index) => search(CLIENT, index))
  const other = await search('192.0.2.2', 50)
  const answers = await Promise.all(many)
  expect(other).not.toBeNull()
  expect(answers[0]).not.toBeNull()
  expect(answers.filter(answer => answer === null).length).toBeGreaterThan(20)
})

test('what a list did not find out in its time is late, which says nothing of the repository', async () => {
  const snapshots = { ...app.deps.snapshots, open: () => new Promise<never>(() => {}) }
  const peeked = await listedRepositories({ ...app.deps, snapshots }).peek([OPEN, '/local/acme/empty'])
  expect(peeked.map(one => one?.state.kind)).toEqual(['late', 'empty'])
})
