import { afterAll, beforeAll, expect, test } from 'vitest'
import { runIndexJob } from '#indexer/jobs/run-index-job.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'

let repositories: TestRepositories
let host: LocalHost
beforeAll(async () => {
  repositories = await createRepositories()
  host = await openLocalHost({ root: repositories.root, baseUrl: 'https://mountglass.example' })
})
afterAll(async () => {
  await host.close()
  await repositories.remove()
})

/** What a job tells while it indexes these files. */
async function toldOf(name: string, files: Readonly<Record<string, string>>): Promise<unknown[]> {
  const repository = await repositories.create('acme', name)
  const commit = await repository.commit({ 'package.json': '{"license":"MIT"}\n', ...files })
  const told: unknown[] = []
  const end = await runIndexJob(
    { blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore(), hosts: [host] },
    { repository: answered(await host.repository('acme', name)), commit },
    { signal: new AbortController().signal, onStage: (stage, progress) => told.push(progress ? [stage, progress] : stage) },
  )
  expect(end).toMatchObject({ status: 'indexed' })
  return told
}

const numbered = (count: number, entry: (index: number) => [string, string]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)))

test('a job reports each stage, during content the files read of how many, and nothing else', async () => {
  const told = await toldOf(
    'tools',
    numbered(230, index => [`docs/${index}.md`, `# ${index}\n`]),
  )
  expect(told).toEqual(['open', 'tree', 'policy', ...[100, 200, 230].map(done => ['content', { done, total: 230 }]), 'write'])
})

test('files that are only linked are read after all counted ones', async () => {
  const told = await toldOf('linked', {
    ...numbered(120, index => [`docs/${index}.md`, `# ${index}\n\n[one](../data/${index}.txt), [two](../data/x${index}.txt)\n`]),
    ...numbered(120, index => [`data/${index}.txt`, `${index}\n`]),
    ...numbered(120, index => [`data/x${index}.txt`, `x${index}\n`]),
  })
  expect(told).toEqual(['open', 'tree', 'policy', ...[100, 120].map(done => ['content', { done, total: 120 }]), 'write'])
})
