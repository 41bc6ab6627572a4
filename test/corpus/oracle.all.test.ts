import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CORPUS, type CorpusApp, corpusApp, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { readOracle } from '#test/support/oracle.ts'
import { compareMount } from './agreement.ts'
import { GOLDEN, type Summary } from './summary.ts'

const corpus = CORPUS ?? ''

let service: CorpusApp
beforeAll(async () => {
  service = await corpusApp()
})
afterAll(() => service?.close())

describe.runIf(CORPUS !== null)('repositories that exist are delivered as an independent reader has them', () => {
  test.each(CORPUS === null ? [] : corpusRepositories(corpus))('$owner/$name', async repository => {
    const commit = await unpackCorpus(corpus, repository, service.root)
    await service.app.open(`/local/${repository.owner}/${repository.name}`)
    const golden = JSON.parse(readFileSync(join(GOLDEN, `${repository.directory}.json`), 'utf8')) as Summary
    // The kinds of licenses come from the golden file; where one skill is open all are.
    const isOpen = golden.license.startsWith('open')
    expect(golden.skills.describedOnly).toBe(0)
    const isServed = () => isOpen

    const oracle = readOracle(service.gitDir(repository), commit, isServed)
    const compared = await compareMount(service, oracle, { repository, folder: '', isServed, everyFile: isOpen ? 1 : 20 })
    expect(compared).toMatchObject({
      skills: golden.skills.listed + golden.skills.internal,
      incomplete: 0,
      pages: golden.contexts.pages,
      linked: golden.files.linked,
    })
    expect(oracle.documents.size).toBe(golden.files.documents)
  })
})
