import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { startService } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const REASON = 'it borrows objects from another repository'

let repositories: TestRepositories
let store: string
beforeAll(async () => {
  repositories = await createRepositories()
  store = await mkdtemp(join(tmpdir(), 'mountglass-operator-'))
  for (const name of ['tools', 'shared', 'hidden']) {
    const repository = await repositories.create('acme', name)
    await repository.commit({ a: 'a' })
    if (name === 'hidden') await writeFile(join(repository.gitDir, 'mountglass-private'), '')
    if (name !== 'shared') continue
    await mkdir(join(repository.gitDir, 'objects/info'), { recursive: true })
    await writeFile(join(repository.gitDir, 'objects/info/alternates'), '/nowhere/objects\n')
  }
})
afterAll(async () => {
  await repositories.remove()
  await rm(store, { recursive: true, force: true })
})

test('the start prints the addresses that can be opened, and the log says once why a repository is not served; clients do not see that', async () => {
  const service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root })
  try {
    await until(() => service.output().includes('Mountglass answers'))
    expect(service.output()).toContain(`\n  ${service.baseUrl}/local/acme/tools\n`)
    expect(service.output()).not.toContain('/local/acme/hidden')
    const answers: string[] = []
    for (const name of ['shared', 'shared', 'nothing']) {
      const answer = await fetch(`${service.baseUrl}/api/v1/mounts/local/acme/${name}`)
      answers.push(await answer.text())
    }
    expect(new Set(answers).size).toBe(1)
    const warned = service.output().split(REASON).length - 1
    expect(warned).toBe(1)
    const line = service
      .output()
      .split('\n')
      .find(one => one.includes(REASON))
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 40, repository: 'local/acme/shared' })
  } finally {
    await service.stop()
  }
})

test('mountglass index prints why a local repository is not served', () => {
  const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, 'index', 'local/acme/shared'], {
    env: { PATH: process.env.PATH, MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_STORE: `disk:${store}` },
    encoding: 'utf8',
    timeout: 240_000,
  })
  expect([status, stderr.trimEnd().split('\n')]).toEqual([
    2,
    [expect.stringMatching(new RegExp(`^mount\\.repo_not_found: the local repository is not served: ${REASON}`))],
  ])
})
