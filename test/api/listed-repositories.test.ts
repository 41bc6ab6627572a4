import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listedRepositories } from '#api/front/search.ts'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const OPEN = '/local/acme/open'
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
  const searched = await listed.search(ALL, 'pdf')
  expect(searched?.found.map(({ address, skills }) => [address, skills.map(({ name }) => name)])).toEqual([
    [OPEN, ['pdf', 'kept-pdf']],
  ])
  expect(searched).toMatchObject({ unread: ['/local/acme/unread'], isCut: false })
  expect(JSON.stringify(searched)).not.toMatch(/closed|excluded|withheld violet/)
  expect(await app.queue.depth()).toBe(0)
})

test('words of an excluded or withheld text find nothing of it', async () => {
  const names = async (query: string) =>
    (await listed.search(ALL, query))?.found.flatMap(({ skills }) => skills.map(({ name }) => name))
  expect(await names('violet')).toEqual(['pdf'])
  expect(await names('excluded')).toEqual([])
  expect(await names('withheld')).toEqual([])
})

test('more searches than run and wait are refused', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => listed.search(ALL, `form ${index}`)))
  expect(answers.filter(answer => answer === null).length).toBeGreaterThan(0)
  expect(answers[0]).not.toBeNull()
})
