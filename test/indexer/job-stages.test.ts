import { afterAll, beforeAll, expect, test } from 'vitest'
import { runIndexJob } from '#indexer/jobs/run-index-job.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { systemClock } from '#infra/system/clock.ts'
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

test('a job tells each stage, and of its content how many files it has read of how many, and of no stage anything else', async () => {
  const tools = await repositories.create('acme', 'tools')
  const files = Object.fromEntries(Array.from({ length: 230 }, (_, index) => [`docs/${index}.md`, `# ${index}\n`]))
  const commit = await tools.commit({ 'package.json': '{"license":"MIT"}\n', ...files })
  const told: unknown[] = []
  const end = await runIndexJob(
    { blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore(), hosts: [host] },
    { repository: answered(await host.repository('acme', 'tools')), commit },
    { signal: new AbortController().signal, onStage: (stage, progress) => told.push(progress ? [stage, progress] : stage) },
  )
  expect(end).toMatchObject({ status: 'indexed' })
  expect(told).toEqual(['open', 'tree', 'policy', ...[100, 200, 230].map(done => ['content', { done, total: 230 }]), 'write'])
})
