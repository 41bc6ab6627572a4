import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'

/*
 * What the oracle asks git: its plumbing alone, without a line of the indexer or of core.
 */

export const MIB = 1024 * 1024

interface Entry {
  mode: string
  oid: string
  bytes: number
  path: string
}

export function listTree(gitDir: string, commit: string): Entry[] {
  return git(gitDir, ['ls-tree', '-r', '-z', '-l', '--full-tree', commit])
    .toString('utf8')
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const [facts = '', path = ''] = line.split('\t')
      const [mode = '', , oid = '', bytes = ''] = facts.split(/ +/)
      return { mode, oid, bytes: Number(bytes) || 0, path }
    })
}

export function readBlobs(gitDir: string, oids: readonly string[]): Map<string, Buffer> {
  const output = git(gitDir, ['cat-file', '--batch'], oids.map(oid => `${oid}\n`).join(''))
  const blobs = new Map<string, Buffer>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at)
    const [oid = '', , size = ''] = output.subarray(at, end).toString().split(' ')
    blobs.set(oid, output.subarray(end + 1, end + 1 + Number(size)))
    at = end + 1 + Number(size) + 1
  }
  return blobs
}

function git(gitDir: string, args: readonly string[], input = ''): Buffer {
  return execFileSync('git', [`--git-dir=${gitDir}`, ...args], { input, maxBuffer: 512 * MIB })
}

/** Which of the paths git itself would ignore, were the patterns the only ones and the folder the root. */
export function ignoredBelow(folder: string, patterns: readonly string[], paths: readonly string[]): string[] {
  if (patterns.length === 0 || paths.length === 0) return []
  const work = mkdtempSync(join(tmpdir(), 'mountglass-ignored-'))
  try {
    const options = { cwd: work, env: { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' } }
    execFileSync('git', ['init', '--quiet', '.'], options)
    writeFileSync(join(work, '.git', 'info', 'exclude'), patterns.map(pattern => `${pattern}\n`).join(''))
    const relative = paths.map(path => (folder === '' ? path : path.slice(folder.length + 1)))
    const command = ['check-ignore', '--no-index', '-v', '-n', '-z', '--stdin']
    const shell = `git ${command.join(' ')}; test $? -le 1`
    const output = execFileSync('sh', ['-c', shell], {
      ...options,
      input: relative.map(path => `${path}\0`).join(''),
      maxBuffer: 64 * MIB,
    })
    // Four fields a path: source, line, pattern, path. A pattern that begins with `!` gives the path back.
    const fields = output.toString('utf8').split('\0')
    return relative.flatMap((path, index) => {
      const pattern = fields[4 * index + 2] ?? ''
      return pattern === '' || pattern.startsWith('!') ? [] : [posix.join(folder, path)]
    })
  } finally {
    rmSync(work, { recursive: true })
  }
}
