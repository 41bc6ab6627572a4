import { afterAll, beforeAll, expect, test } from 'vitest'
import { editFiles, generateFiles } from '#test/support/changing-repositories.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectAgreement } from './changes.ts'

const SEEDS = ['a', 'b', 'c']

let app: TestApp
beforeAll(async () => {
  app = await testApp(Object.fromEntries(SEEDS.map(seed => [`acme/${seed}`, generateFiles(seed)])))
})
afterAll(() => app.close())

test.each(SEEDS)('an independent reading of both trees agrees on every item (%s)', async seed => {
  const name = `acme/${seed}`
  const { gitDir, commit } = app.repository(name)
  const to = await commit(editFiles(generateFiles(seed), seed, 6), { replace: true })
  expect(await expectAgreement(app, { name, gitDir, from: app.commitOf(name), to })).not.toEqual([])
})
