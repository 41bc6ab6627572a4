import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type LockFile, parseLockFile } from '#cli/lock/lock-file.ts'
import { runCommand } from '#test/support/command.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'

export const MIT = '{"license":"MIT"}\n'

export function skill(name: string, body = 'Do it.\n', more = ''): string {
  return `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}`
}

export let repositories: TestRepositories
/** A service that serves them. */
export let service: Service
/** The working folder of the commands. */
export let folder: string
/** A repository of its own for every test. */
export let tools: TestRepository
export let name: string
let count = 0

/** Hooks of a test file that uses this: `acme/<name>` with three skills, and an empty folder. */
export function usePinScene(): void {
  beforeAll(async () => {
    repositories = await createRepositories()
    service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })
  })
  afterAll(async () => {
    await service?.stop()
    await repositories.remove()
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mountglass-pin-'))
    name = `tools-${count++}`
    tools = await repositories.create('acme', name)
    await tools.commit({
      'package.json': MIT,
      'a/SKILL.md': skill('a'),
      'a/run.py': 'print(1)\n',
      'b/SKILL.md': skill('b'),
      'other/c/SKILL.md': skill('c'),
    })
    return () => rm(folder, { recursive: true, force: true })
  })
}

export function where(env: Record<string, string> = {}) {
  return { cwd: folder, env: { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off', ...env } }
}

export function run(args: string[], env?: Record<string, string>) {
  return runCommand(args, where(env))
}

export function lockPath(): string {
  return join(folder, 'mountglass.lock.json')
}

export async function readLock(): Promise<LockFile> {
  return parseLockFile(await readFile(lockPath(), 'utf8'))
}
