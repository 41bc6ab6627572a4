import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChangesAnswer } from '#core/contract/changes.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/* Skills and documents that move under another name or title. */

const skill = (name: string, body: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`
const steps = (count: number, mark: string) =>
  Array.from({ length: 10 }, (_, at) => (at < count ? `Step ${at}.\n` : `${mark} ${at}.\n`)).join('')
const ADDRESS = '/local/acme/renamed'

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/renamed': {
      'package.json': '{"license":"MIT"}\n',
      'executing-plans/SKILL.md': skill('executing-plans', steps(10, '')),
      'executing-plans/run.sh': 'echo\n',
      'other/SKILL.md': skill('other', `Other.\n${steps(7, 'Once')}`),
      'docs/old.md': '# Old\n\nThe first of many lines.\nThe second of them.\n\nThe last one.\n',
    },
  })
  const repository = app.repository('acme/renamed')
  await repository.tag('v1', app.commitOf('acme/renamed'))
  await repository.commit(
    {
      'package.json': '{"license":"MIT"}\n',
      'running-plans/SKILL.md': skill('running-plans', steps(9, 'Later')),
      'running-plans/run.sh': 'echo\n',
      'another/SKILL.md': skill('another', `Another.\n${steps(6, 'Now')}`),
      'docs/new.md': '# New\n\nThe first of many lines.\nThe second of them.\n\nThe last one.\n',
    },
    { replace: true },
  )
  await app.open(ADDRESS)
  await app.open(`${ADDRESS}@v1`)
})
afterAll(() => app.close())

type Ready = Extract<ChangesAnswer, { items: unknown }>
const compare = async (address: string, from: string) => (await app.ask('changes', address, { from })) as Ready

test('a moved skill is one item under its new name; less similar ones are an addition and a removal', async () => {
  const { items, counts } = await compare(ADDRESS, 'v1')
  expect(items.map(({ change, path }) => `${change} ${path}`)).toEqual([
    'added another/SKILL.md',
    'moved docs/new.md',
    'removed other/SKILL.md',
    'moved running-plans/SKILL.md',
  ])
  expect(items[1]).toMatchObject({ title: 'New', movedFrom: 'docs/old.md', parts: ['body', 'metadata'] })
  expect(items[3]).toMatchObject({ name: 'running-plans', movedFrom: 'executing-plans/SKILL.md', parts: ['body', 'metadata'] })
  expect(counts.skills).toEqual({ added: 1, removed: 1, changed: 0, moved: 1 })
})

test('the reverse comparison reverses the moves', async () => {
  const { items } = await compare(`${ADDRESS}@v1`, 'main')
  expect(items.flatMap(item => ('movedFrom' in item ? [`${item.movedFrom} > ${item.path}`] : []))).toEqual([
    'docs/new.md > docs/old.md',
    'running-plans/SKILL.md > executing-plans/SKILL.md',
  ])
})
