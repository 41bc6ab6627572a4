import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'

let repositories: TestRepositories
let service: Service

beforeAll(async () => {
  repositories = await createRepositories()
  service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_LOG: 'warn' })
})
afterAll(async () => {
  await service.stop()
  await repositories.remove()
})

const pages = Object.fromEntries(
  Array.from({ length: 50 }, (_, at) => [`docs/page-${at}.md`, `# Page ${at}\n\nWords of ${at}.\n`]),
)

test.each<[string, (pack: string) => Promise<void>]>([
  ['gone', pack => rm(pack)],
  ['cut short', pack => truncate(pack, 100)],
  ['changed', async pack => writeFile(pack, (await readFile(pack)).reverse())],
])('a pack that is %s on the disk of a running service is logged once, and repaired without a restart', async (kind, damage) => {
  const name = kind.replace(' ', '-')
  const address = `/local/acme/${name}`
  const repository = await repositories.create('acme', name)
  await repository.commit({ 'package.json': '{"license":"MIT"}\n', ...pages })
  const before = await packsOf(service.store)
  const jobs = await indexedJobs()
  await service.get('mounts', address)
  // After its snapshot is visible, a job checks that its packs exist, and builds it again if one is missing.
  await until(async () => (await indexedJobs()) === jobs + 1)
  const folder = await service.get('browse', address, { path: 'docs' })
  const [pack = '', ...others] = (await packsOf(service.store)).filter(path => !before.includes(path))
  expect(others).toEqual([])

  const lines = damageLines()
  await damage(pack)
  const url = `${service.baseUrl}/api/v1/files${address}?path=docs/page-7.md`
  expect((await fetch(url)).status).toBe(503)
  // What was read before is in memory, and right.
  expect(await service.get('browse', address, { path: 'docs' })).toEqual(folder)
  await until(async () => (await fetch(url)).status === 200)
  expect((await service.get('files', address, { path: 'docs/page-7.md' })).content).toBe('# Page 7\n\nWords of 7.\n')
  expect(damageLines()).toBe(lines + 1)
  await until(async () => (await indexedJobs()) === jobs + 2)
})

/** Jobs that wrote a snapshot and ended. */
async function indexedJobs(): Promise<number> {
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
  return Number(/^mountglass_jobs_total\{outcome="indexed",code=""\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

function damageLines(): number {
  return service.output().match(/the snapshot is damaged/g)?.length ?? 0
}

async function packsOf(store: string): Promise<string[]> {
  const entries = await readdir(store, { withFileTypes: true, recursive: true })
  return entries.filter(entry => entry.isFile() && /\/p$/.test(entry.parentPath)).map(entry => join(entry.parentPath, entry.name))
}
