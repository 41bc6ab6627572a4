import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { answerOfRefs } from './answers-of-refs.ts'
import type { Repository, World } from './world.ts'

/** Settings of the host's git in command scope: `uploadpack.allowFilter` does not count when it stands in the repository. */
const SETTINGS = {
  'safe.directory': '*',
  'uploadpack.allowFilter': 'true',
  'uploadpack.allowAnySHA1InWant': 'true',
  'core.hooksPath': '/dev/null',
  'gc.auto': '0',
}

export interface GitInput {
  input?: string | Uint8Array
  env?: Record<string, string>
}

interface Git {
  output: Readable
  ended: Promise<{ status: number | null; errors: string }>
}

/** git over the repository and, as on the real host, over the objects of its whole fork network. */
export function startGit(world: World, repository: Repository, args: readonly string[], { input, env }: GitInput = {}): Git {
  const others = world.network(repository).filter(other => other !== repository)
  const settings = Object.entries(SETTINGS)
  const child = spawn('git', ['--git-dir', repository.gitDir, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      LC_ALL: 'C',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_ALTERNATE_OBJECT_DIRECTORIES: others.map(({ gitDir }) => join(gitDir, 'objects')).join(':'),
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([key, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, key],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ),
      ...env,
    },
  })
  const errors: Buffer[] = []
  child.stderr.on('data', chunk => errors.push(chunk))
  child.stdin.on('error', () => {}) // the status tells more than a broken pipe
  child.stdin.end(input)
  child.stdout.once('close', () => void child.kill())
  const ended = new Promise<{ status: number | null; errors: string }>(resolve => {
    child.once('error', error => resolve({ status: null, errors: error.message }))
    child.once('close', status => resolve({ status, errors: Buffer.concat(errors).toString() }))
  })
  return { output: child.stdout, ended }
}

/** The whole output. @throws Error with what git said, unless `statuses` holds how it ended */
export async function runGit(
  world: World,
  repository: Repository,
  args: readonly string[],
  options: GitInput & { statuses?: readonly number[] } = {},
): Promise<Buffer> {
  const git = startGit(world, repository, args, options)
  const output = await readAll(git)
  const { status, errors } = await git.ended
  if (status === null || ![0, ...(options.statuses ?? [])].includes(status)) throw new Error(`git ${args.join(' ')}: ${errors}`)
  return output
}

/** What `upload-pack` or `for-each-ref` says of the refs alone. */
export function runGitOnRefs(
  world: World,
  repository: Repository,
  args: readonly string[],
  options: GitInput = {},
): Promise<Buffer> {
  const question = JSON.stringify([args, String(options.input ?? ''), options.env])
  return answerOfRefs(repository, question, async () => {
    const git = startGit(world, repository, args, options)
    const answer = await readAll(git)
    return { answer, isWell: (await git.ended).status === 0 }
  })
}

async function readAll(git: Git): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of git.output as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function readLines(world: World, repository: Repository, args: readonly string[], options: GitInput = {}) {
  return linesOf(await runGit(world, repository, args, options))
}

export function linesOf(output: Buffer): string[] {
  return output
    .toString()
    .split('\n')
    .filter(line => line !== '')
}
