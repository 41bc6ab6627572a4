import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAction, type TestAction } from '#test/support/action.ts'
import { git, root, SKILL, useCheckScene, write } from './check-scene.ts'

useCheckScene()

let action: TestAction
beforeAll(async () => {
  action = await makeAction()
})
afterAll(() => action?.remove())

const check = (event: unknown = {}) => action.run({ inputs: { mode: 'check' }, env: {}, event, workspace: root })

test('errors of the files that are checked out fail the step, with annotations of their lines', async () => {
  await write({ 'SKILLSET.md': '---\nname: all\nlicense: MIT\n---\n', 'a/SKILL.md': SKILL('a') })
  git('init', '-q', '-b', 'main')
  const passing = await check()
  expect([passing.code, passing.outputs]).toEqual([0, { address: '', commit: '', page: '', skills: '1', documents: '0' }])
  expect(passing.summary).toContain('| Skills | 1 |')
  await write({ 'a/SKILL.md': SKILL('a', 'See [it](it.md).\n').replace('license: MIT', 'include: [gone.md]') })
  const failing = await check()
  expect([failing.code, failing.log]).toEqual([1, expect.stringMatching(/^::error title=\S+,file=a\/SKILL\.md,line=\d+::/m)])
  expect(failing.log).toContain('errors keep content from agents')
  expect(failing.summary).toContain('<code>a/SKILL.md:')
})

test('a private repository is checked as one, and a folder that is no clone is named', async () => {
  await write({ 'a/SKILL.md': SKILL('a').replace('license: MIT\n', '') })
  const none = await check()
  expect([none.code, none.log]).toEqual([1, expect.stringContaining('run actions/checkout in an earlier step')])
  git('init', '-q', '-b', 'main')
  expect((await check({ repository: { private: false } })).log).toContain('folder.unlicensed')
  expect((await check({ repository: { private: true } })).log).not.toContain('folder.unlicensed')
})
