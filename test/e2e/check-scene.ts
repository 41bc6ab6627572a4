import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect } from 'vitest'
import { CheckReport } from '#indexer/check/schema.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

export let outside: string
export let root: string
let started: ChildProcess[]
/** Hooks of a test file that uses this: a folder of its own. */
export function useCheckScene(): void {
  beforeEach(async () => {
    outside = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-check-')))
    root = join(outside, 'tools')
    await mkdir(root)
    started = []
  })
  afterEach(async () => {
    for (const child of started) child.kill('SIGKILL')
    await chmod(join(root, 'locked'), 0o700).catch(() => {})
    await rm(outside, { recursive: true, force: true })
  })
}

/** The folder to check gets another name. */
export function useFolder(name: string): void {
  root = join(outside, name)
}

export function SKILL(name: string, body = 'Body.\n'): string {
  return `---\nname: ${name}\ndescription: does something\nlicense: MIT\n---\n${body}`
}

export async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

export function git(...args: string[]): void {
  const person = ['-c', 'user.name=Test Person', '-c', 'user.email=test@example.org']
  execFileSync('git', ['-C', root, ...person, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
}

interface RunOptions {
  env?: Record<string, string>
  /** Rights of files hold for everyone but root. */
  asNobody?: boolean
}

export function start(args: readonly string[], { env = {}, asNobody = false }: RunOptions = {}): ChildProcess {
  const user = asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if ('uid' in user) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, outside])
  const child = spawn(process.execPath, [LAUNCHER, 'check', ...args], {
    env: { PATH: process.env.PATH, HOME: outside, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  started.push(child)
  return child
}

const NOBODY = 65_534

export async function run(args: readonly string[], options: RunOptions = {}) {
  const child = start(args, options)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', chunk => (output.stdout += chunk))
  child.stderr?.on('data', chunk => (output.stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

/** The report of `--json`, checked against its schema: every field known, none missing. */
export async function check(args: readonly string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await run([...args, '--json'], options)
  if (stdout === '') throw new Error(`no report: ${stderr}`)
  const json: unknown = JSON.parse(stdout)
  const report = CheckReport.parse(json)
  expect(report).toEqual(json)
  if (report.status !== 'checked') throw new Error(report.message)
  return { code, stdout, report }
}
