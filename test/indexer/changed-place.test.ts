import { cpSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import type { Progress } from '#indexer/pipeline/progress.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

let repositories: TestRepositories
let host: LocalHost
let made = 0
beforeAll(async () => {
  repositories = await createRepositories()
  host = await openLocalHost({ root: repositories.root, baseUrl: 'https://mountglass.example' })
})
afterAll(async () => {
  await host.close()
  await repositories.remove()
})

const CHANGES: Readonly<Record<string, (repository: TestRepository) => void>> = {
  'another repository took its place'({ gitDir }) {
    cpSync(gitDir, `${gitDir}-copy`, { recursive: true })
    renameSync(gitDir, `${gitDir}-away`)
    renameSync(`${gitDir}-copy`, gitDir)
  },
  'it names the objects of another one': ({ gitDir }) =>
    writeFileSync(join(gitDir, 'objects/info/alternates'), '/nowhere/objects\n'),
  'an object became a link': ({ gitDir }) => symlinkSync('/etc/hostname', join(gitDir, 'objects/pack/pack-1.idx')),
  'it is gone': ({ gitDir }) => renameSync(gitDir, join(gitDir, '../.away')),
}

test.each(Object.keys(CHANGES))('a commit is not published if %s while it was read', async change => {
  const repository = await repositories.create('acme', `tools-${made++}`)
  const commit = await repository.commit({ 'README.md': '# Tools\n' })
  const described: HostRepository = answered(await host.repository('acme', repository.name))
  const blobs = createMemoryBlobStore(systemClock)
  const onProgress = ({ stage }: Progress) => {
    if (stage === 'write') CHANGES[change]?.(repository)
  }
  const job = { repository: described, commit }
  const writing = writeSnapshot({ blobs, hosts: [host] }, job, new AbortController().signal, onProgress)
  await expect(writing).rejects.toMatchObject({ code: 'index.fetch_failed' })
  expect(await blobs.read(headerKey(described, commit))).toBeNull()
})
