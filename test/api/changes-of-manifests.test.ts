import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChangesAnswer } from '#core/contract/changes.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/* What a comparison says of manifests: include lists that begin and end, and files that are not served. */

const MIT = '{"license":"MIT"}\n'
const ADDRESS = '/local/acme/tools'
const manifest = (fields = '') => `---\nname: Rules\n${fields}---\nBe kind.\n`
const skill = (name: string, fields = '') => `---\nname: ${name}\ndescription: About ${name}.\n${fields}---\nDo it.\n`

const BEFORE = {
  'package.json': MIT,
  'shared/terms.md': '# Terms\n',
  'begins/SKILLSET.md': manifest(),
  'begins/one/SKILL.md': skill('one'),
  'ends/SKILLSET.md': manifest('include: /shared/terms.md\n'),
  'ends/two/SKILL.md': skill('two'),
  'own/SKILL.md': skill('own'),
  'fresh/three/SKILL.md': skill('three'),
  'silent/four/SKILL.md': skill('four'),
  'closed/SKILLSET.md': manifest(),
  'closed/LICENSE': 'All rights reserved.\n',
}
const AFTER = {
  'begins/SKILLSET.md': manifest('include: /shared/terms.md\n'),
  'ends/SKILLSET.md': manifest(),
  'own/SKILL.md': skill('own', 'include: /shared/terms.md\n'),
  'fresh/SKILLSET.md': manifest('include: /shared/terms.md\n'),
  'silent/SKILLSET.md': manifest(),
  'silent/four/SKILL.md': skill('four', 'include: /shared/terms.md\n'),
  'closed/SKILLSET.md': manifest('image: https://x.example/a.png\n'),
}

let app: TestApp
let items: Record<string, unknown>[]
beforeAll(async () => {
  app = await testApp({ 'acme/tools': BEFORE })
  const repository = app.repository('acme/tools')
  await repository.tag('v1', app.commitOf('acme/tools'))
  await repository.commit(AFTER)
  for (const address of [ADDRESS, `${ADDRESS}@v1`]) await app.open(address)
  const answer = await app.ask('changes', ADDRESS, { from: 'v1' })
  items = (answer as Extract<ChangesAnswer, { items: unknown }>).items
})
afterAll(() => app.close())

const itemAt = (path: string) => items.find(item => item.path === path)
const TERMS = { part: 'includes', path: 'shared/terms.md' }

test('an include list that begins or ends is a change of the manifest that both sides have', () => {
  for (const folder of ['begins', 'ends']) {
    expect(itemAt(`${folder}/SKILLSET.md`)).toMatchObject({ change: 'changed', parts: ['includes'], skills: 1 })
  }
  const change = { part: 'includes', change: 'changed' }
  expect(itemAt('begins/one/SKILL.md')).toMatchObject({
    causes: [
      { ...change, path: 'begins/SKILLSET.md' },
      { ...TERMS, change: 'added' },
    ],
  })
  expect(itemAt('ends/two/SKILL.md')).toMatchObject({
    causes: [
      { ...change, path: 'ends/SKILLSET.md' },
      { ...TERMS, change: 'removed' },
    ],
  })
  expect(itemAt('own/SKILL.md')).toMatchObject({
    parts: ['includes'],
    causes: [
      { ...change, path: 'own/SKILL.md' },
      { ...TERMS, change: 'added' },
    ],
  })
})

test("a list that only one side's manifest has begins with that manifest, and a manifest without lists causes no change of includes", () => {
  expect(itemAt('fresh/three/SKILL.md')).toMatchObject({
    causes: [
      { part: 'rules', path: 'fresh/SKILLSET.md', change: 'added' },
      { part: 'includes', path: 'fresh/SKILLSET.md', change: 'added' },
      { ...TERMS, change: 'added' },
    ],
  })
  expect(itemAt('silent/four/SKILL.md')).toMatchObject({
    causes: [
      { part: 'rules', path: 'silent/SKILLSET.md', change: 'added' },
      { ...TERMS, change: 'added' },
      { part: 'includes', path: 'silent/four/SKILL.md', change: 'changed' },
    ],
  })
})

test('a manifest that is not served has both sides without values', async () => {
  const none = { sha256: null, bytes: null, tokens: null }
  expect(itemAt('closed/SKILLSET.md')).toMatchObject({ change: 'changed', before: none, after: none })
  expect((await app.get(`/api/v1/files${ADDRESS}?path=closed/SKILLSET.md`)).status).toBe(403)
  expect(itemAt('fresh/SKILLSET.md')).toMatchObject({ change: 'added', before: null, after: { bytes: 55 } })
})
