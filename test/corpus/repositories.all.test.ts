import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readReport } from '#cli/check.ts'
import { encodePath } from '#core/repo-path.ts'
import { listen } from '#test/mcp/scene.ts'
import {
  CORPUS,
  type CorpusApp,
  type CorpusRepository,
  corpusApp,
  corpusRepositories,
  unpackCorpus,
} from '#test/support/corpus.ts'
import { allFindings, expectedFindings } from '#test/support/findings.ts'
import { readOracle } from '#test/support/oracle.ts'
import { compareMount } from './agreement.ts'
import { testClients } from './clients.ts'
import { testGolden } from './golden.ts'
import type { Opened } from './opened.ts'
import { GOLDEN, type Summary } from './summary.ts'

const corpus = CORPUS ?? ''

/*
 * Everything that is tested of real repositories as they are. To unpack and index them takes longer than most of the tests, so it is done once.
 */
describe.runIf(CORPUS !== null)('repositories that exist', () => {
  let service: CorpusApp
  let origin: string
  beforeAll(async () => {
    service = await corpusApp()
    origin = await listen(service.app)
  })
  afterAll(() => service?.close())

  describe.each(CORPUS === null ? [] : corpusRepositories(corpus))('$owner/$name', repository => {
    let opened: Opened
    beforeAll(async () => {
      const commit = await unpackCorpus(corpus, repository, service.root)
      await service.app.open(`/local/${repository.owner}/${repository.name}`)
      opened = { service, origin, commit }
    })

    testGolden(corpus, repository, () => opened)
    test('is delivered as an independent reader reads it', () => expectOracle(repository, opened))
    testClients(repository, () => opened)
    test('has the findings that the check of a checkout has', () => expectFindings(repository, opened))
  })
})

/** The root, and two folders with skills. */
async function expectFindings({ owner, name }: CorpusRepository, { service, commit }: Opened): Promise<void> {
  const { app, root } = service
  const address = `/local/${owner}/${name}@${commit}`
  const { index } = await app.ask('mounts', address)
  if (index.status !== 'ready') throw new Error(index.status)
  const directories = index.skills.map(({ directory }) => directory).filter(directory => directory !== '')
  const [first = ''] = directories
  for (const folder of new Set(['', first.split('/').slice(0, -1).join('/'), directories.at(-1) ?? ''])) {
    const { report } = await readReport(join(root, owner, name, folder), {})
    if (report.status !== 'checked') throw new Error(report.message)
    const expected = expectedFindings(report)
    const at = folder === '' ? address : `${address}/${encodePath(folder)}`
    expect(await allFindings(app, at), at).toEqual(expected)
    expect(await allFindings(app, address, { path: folder }), at).toEqual(expected)
  }
}

async function expectOracle(repository: CorpusRepository, { service, commit }: Opened): Promise<void> {
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
}
