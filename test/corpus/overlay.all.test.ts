import { posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CORPUS, type CorpusApp, corpusApp, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { readOracle } from '#test/support/oracle.ts'
import { type Compared, compareMount } from './agreement.ts'
import { createRandom, type Overlay, overlayManifests } from './manifests.ts'

const corpus = CORPUS ?? ''
/** Small with links between skills; a skill at the root with others inside; many skills in dot-folders, nested ones and links to nothing. */
const SEEDS: Readonly<Record<string, readonly number[]>> = {
  obra__superpowers: [1, 2, 3],
  'muratcankoylan__Agent-Skills-for-Context-Engineering': [1, 2, 3],
  'microsoft__agent-skills': [11],
}

// No repository of the corpus has a manifest, so copies of three are given some.
describe.runIf(CORPUS !== null)('real repositories with manifests are delivered as an independent reader reads them', () => {
  let service: CorpusApp
  beforeAll(async () => {
    service = await corpusApp()
  })
  afterAll(() => service?.close())
  const overlays: Overlay[] = []
  const compared: Compared[] = []

  const copies = (CORPUS === null ? [] : corpusRepositories(corpus)).flatMap(repository =>
    (SEEDS[repository.directory] ?? []).map(seed => ({ repository, seed })),
  )

  test.each(copies)('$repository.owner/$repository.name, seed $seed', async ({ repository, seed }) => {
    const copy = { ...repository, owner: `seed-${seed}` }
    const commit = await unpackCorpus(corpus, copy, service.root, folder => {
      overlays.push(overlayManifests(folder, seed))
    })
    await service.app.open(`/local/${copy.owner}/${copy.name}`)
    const oracle = readOracle(service.gitDir(copy), commit)

    const folders = [...new Set(oracle.skills.map(({ directory }) => posix.dirname(directory)))].filter(folder => folder !== '.')
    const random = createRandom(seed)
    const mounts = ['', ...[0, 1, 2].map(() => folders[random(folders.length)] ?? '')]
    for (const folder of new Set(mounts)) {
      compared.push(
        await compareMount(service, oracle, { repository: copy, folder, isServed: () => true, everyFile: folder === '' ? 1 : 7 }),
      )
    }
  })

  test('and every success and failure occurs', () => {
    const sum = (key: keyof Compared) => compared.reduce((total, one) => total + one[key], 0)
    expect(Math.min(...overlays.map(({ manifests }) => manifests))).toBeGreaterThan(1)
    expect(overlays.flatMap(({ closed }) => closed).length).toBeGreaterThan(1)
    expect(sum('skills')).toBeGreaterThan(100)
    expect(sum('incomplete')).toBeGreaterThan(10)
    expect(sum('skills') - sum('incomplete')).toBeGreaterThan(10)
    expect(sum('pages')).toBeGreaterThan(2 * sum('skills'))
    expect(sum('refused')).toBeGreaterThan(100)
  })
})
