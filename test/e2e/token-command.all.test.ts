import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand, startCommand } from '#test/support/command.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'

let repositories: TestRepositories
let service: Service
beforeAll(async () => {
  repositories = await createRepositories()
  for (const name of ['tools', 'secret']) {
    const repository = await repositories.create('acme', name)
    await repository.commit({ 'a.md': `# ${name}\n` })
    if (name === 'secret') await writeFile(join(repository.gitDir, 'mountglass-private'), '')
  }
  service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })
})
afterAll(async () => {
  await service.stop()
  await repositories.remove()
})

const where = () => ({
  env: {
    MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_STORE: `disk:${service.store}`,
  },
})
const token = (...args: string[]) => runCommand(['token', ...args], where())

const statusOf = async (address: string, authorization?: string) =>
  (await fetch(`${service.baseUrl}/api/v1/mounts${address}`, { headers: authorization ? { authorization } : {} })).status

test('an operator makes a token that reads one private local repository, lists it, and ends it', async () => {
  const made = startCommand(['token', 'create', '/local/acme/secret', '--label', 'laptop', '--days', '7'], where())
  expect([made.status, made.stderr]).toEqual([0, ''])
  const secret = made.stdout.trim()
  expect(secret).toMatch(/^mgp_[0-9A-Za-z]{83}$/)
  const bearer = `Bearer ${secret}`
  expect(await statusOf('/local/acme/secret')).toBe(404)
  expect(await statusOf('/local/acme/secret', bearer)).toBe(200)
  expect(await statusOf('/local/acme/tools', bearer)).toBe(401)
  const listed = (await token('list')).stdout
  expect(listed).toMatch(/^[0-9a-f]{24}\t\/local\/acme\/secret\texpires \S+Z\t(?:never used|used \S+Z)\tlaptop\n$/)
  expect((await token('list', '/local/acme/other')).stdout).toBe('')
  const id = listed.slice(0, 24)
  expect(await token('delete', id)).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(await statusOf('/local/acme/secret', bearer)).toBe(401)
  expect((await token('list')).stdout).toBe('')
  expect(service.output()).not.toContain(secret)
})

test('a process ends with the same codes', () => {
  expect(startCommand(['token', 'delete', 'x'], where())).toMatchObject({ status: 1, stdout: '' })
  expect(startCommand(['token', 'list', '--store', 'memory:'], where())).toMatchObject({ status: 2, stdout: '' })
})

test.each([
  [['create', '/local/acme/tools'], 1, 'everyone may read'],
  [['create', '/local/acme/nothing'], 1, 'there is no repository'],
  [['create', '/local/acme/secret@main'], 1, 'omit the ref'],
  [['create', '/gh/acme/secret'], 1, 'host segment'],
  [['create', '/local/acme/secret', '--days', '367'], 2, '1 to 366'],
  [['create', '/local/acme/secret', '--label', ''], 2, '1 to 60'],
  [['delete', 'x'], 1, 'no such token'],
  [['create', '/local/acme/secret', '--store', 'memory:'], 2, 'MOUNTGLASS_STORE'],
])('token %j exits with %d and one line that gives the reason', async (args, status, words) => {
  const ended = await token(...args)
  expect([ended.status, ended.stdout]).toEqual([status, ''])
  expect(ended.stderr).toContain(words)
})
