import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChangeItem } from '#core/contract/changes.ts'
import { editFiles, generateFiles } from '#test/support/changing-repositories.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectAgreement } from './changes.ts'

/** Repositories, and pairs of commits of each: a few edits, and many. */
const SEEDS = Array.from({ length: 20 }, (_, number) => `all-${number}`)
const EDITS = [2, 8, 20]

describe('an independent reading of both trees agrees on every item of sixty pairs of commits', () => {
  let app: TestApp
  const items: ChangeItem[] = []
  beforeAll(async () => {
    app = await testApp(Object.fromEntries(SEEDS.map(seed => [`acme/${seed}`, generateFiles(seed)])))
  })
  afterAll(() => app.close())

  test.each(SEEDS.flatMap(seed => EDITS.map(times => [seed, times] as const)))('%s, %d edits', async (seed, times) => {
    const name = `acme/${seed}`
    const files = editFiles(generateFiles(seed), `${seed}-${times}`, times)
    const to = await app.repository(name).commit(files, { replace: true, parent: app.commitOf(name), branch: `edits-${times}` })
    items.push(...(await expectAgreement(app, { name, gitDir: app.repository(name).gitDir, from: app.commitOf(name), to })))
  })

  test('and many items were compared', () => {
    expect(items.length).toBeGreaterThan(500)
    const facts = new Set(items.flatMap(item => ('facts' in item ? Object.keys(item.facts) : [])))
    expect([...facts].sort()).toEqual(['allowedTools', 'commands', 'description', 'executables', 'hiddenCharacters', 'hosts'])
  })
})
