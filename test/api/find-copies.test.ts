import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT } from '../indexer/snapshot-scene.ts'

const skill = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nDo it.\n`
const SORT = skill('sort-mail', 'Sorts the inbox when it is full.')
const FAILURE = skill('explain-failure', 'Finds out why a job failed. Use for failed jobs, faults and errors.')
const resolution = (n: number) =>
  `# Final Resolution\n\nThe job failed last night, since the robot ${n} was off. Why did my job fail? It did fail last night.\n`

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/copies': {
      LICENSE: MIT,
      ...Object.fromEntries(['.claude/skills', 'skills'].map(folder => [`${folder}/sort-mail/SKILL.md`, SORT])),
      ...Object.fromEntries(['.claude/skills', 'skills'].map(folder => [`${folder}/sort-mail/more.md`, '# More of the inbox\n'])),
      ...Object.fromEntries([1, 2, 3, 4, 5, 6].map(n => [`many/${n}/copied/SKILL.md`, skill('copied', 'Waters the plants.')])),
      'skills/explain-failure/SKILL.md': FAILURE,
      ...Object.fromEntries([1, 2, 3, 4].map(n => [`tests/tasks/case-${n}/RESOLUTION.md`, resolution(n)])),
    },
  })
  await app.get('/api/v1/mounts/local/acme/copies')
  await app.index()
})
afterAll(() => app.close())

const find = async (query: string, address = '/local/acme/copies') =>
  (await app.get(`/api/v1/find${address}?query=${encodeURIComponent(query)}`)).json.items

describe('byte-identical copies', () => {
  test('are one result, which names the others', async () => {
    const [first, ...more] = await find('inbox full')
    expect(first).toMatchObject({ path: 'skills/sort-mail/SKILL.md', copies: ['.claude/skills/sort-mail/SKILL.md'] })
    expect(first).not.toHaveProperty('moreCopies')
    expect(more).toEqual([])
  })

  test('outside of the mount are not named', async () => {
    const [first] = await find('inbox full', '/local/acme/copies/.claude')
    expect(first).toMatchObject({
      path: '.claude/skills/sort-mail/SKILL.md',
      files: [{ path: '.claude/skills/sort-mail/more.md' }],
    })
    expect(first).not.toHaveProperty('copies')
  })

  test('beyond five are counted', async () => {
    const items = await find('waters plants')
    expect(items).toMatchObject([
      { path: 'many/1/copied/SKILL.md', copies: [2, 3, 4, 5, 6].map(n => `many/${n}/copied/SKILL.md`) },
    ])
    expect(items[0].moreCopies).toBeUndefined()
  })
})

test('files in test folders rank behind skills', async () => {
  const [first, second] = await find('why did my job fail last night')
  expect([first.path, second.kind]).toEqual(['skills/explain-failure/SKILL.md', 'document'])
})

test('words far behind in a long query count', async () => {
  const filler = Array.from({ length: 40 }, (_, n) => `w${n}`).join(' ')
  expect((await find(`${filler} inbox`))[0]?.path).toBe('skills/sort-mail/SKILL.md')
})
