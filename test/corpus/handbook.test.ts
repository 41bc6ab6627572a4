import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CorpusApp, commitFolder, corpusApp } from '#test/support/corpus.ts'
import { readOracle } from '#test/support/oracle.ts'
import { compareMount } from './agreement.ts'

let service: CorpusApp
beforeAll(async () => {
  service = await corpusApp()
})
afterAll(() => service?.close())

test('the reference repository is delivered as an independent reader reads it', async () => {
  const repository = { owner: 'mountglass', name: 'handbook' }
  const commit = await commitFolder(join(import.meta.dirname, '..', '..', 'examples', 'handbook'), service.root, repository)
  await service.app.open('/local/mountglass/handbook')
  const closed = 'reviewing/house-audit/'
  const isServed = (path: string) => !path.startsWith(closed)
  const oracle = readOracle(service.gitDir(repository), commit, isServed)
  expect(oracle.withheld.size).toBeGreaterThan(0)
  for (const folder of ['', 'writing', 'reading']) {
    const compared = await compareMount(service, oracle, { repository, folder, isServed })
    expect(compared.skills, folder).toBeGreaterThan(1)
    expect(compared.files, folder).toBeGreaterThan(1)
  }
})
