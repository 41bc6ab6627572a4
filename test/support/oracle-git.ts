import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
  /** A symlink gives it this path. */
  isLinked?: true
  /** Its own path, then. */
  target?: string
}

/** The tree, in which symlinks are what git finds behind them; those that lead to nothing, and around, stay. */
export function listTree(gitDir: string, commit: string): Entry[] {
  const entries = listPlainTree(gitDir, commit)
  const texts = readBlobs(gitDir, [...new Set(entries.filter(({ mode }) => mode === '120000').map(({ oid }) => oid))])
  const links = new Map(entries.flatMap(({ path, mode, oid }) => (mode === '120000' ? [[path, `${texts.get(oid)}`]] : [])))
  return entries
    .flatMap(entry => (entry.mode === '120000' ? behindLink(gitDir, commit, entry) : [entry]))
    .map(entry => (entry.isLinked ? { ...entry, target: realPath(entry.path, links) } : entry))
}

/** Replaces the first link of a path by where it leads, until there is none. Of links that git has followed. */
function realPath(path: string, links: ReadonlyMap<string, string>): string {
  const names = path.split('/')
  for (let count = 1; count <= names.length; count++) {
    const above = names.slice(0, count).join('/')
    const text = links.get(above)
    if (text !== undefined) return realPath(posix.join(posix.dirname(above), text, ...names.slice(count)), links)
  }
  return path
}

function behindLink(gitDir: string, commit: string, link: Entry, around: readonly string[] = []): Entry[] {
  const [oid = '', kind = '', bytes = ''] = ask(gitDir, `${commit}:${link.path}`)
  if (kind === 'blob') return [{ ...link, mode: '100644', oid, bytes: Number(bytes), isLinked: true }]
  if (kind !== 'tree') return [link]
  const above = link.path
    .split('/')
    .map((_, index, names) => ask(gitDir, `${commit}:${names.slice(0, index).join('/')}`)[0] ?? '')
  const trees = [...around, ...above]
  if (trees.includes(oid)) return [link]
  const below = listPlainTree(gitDir, oid).map(entry => ({ ...entry, path: `${link.path}/${entry.path}` }))
  return below.flatMap(entry => {
    if (entry.mode === '120000') return behindLink(gitDir, commit, entry, [...trees, oid]).filter(({ mode }) => mode !== '120000')
    return entry.mode.startsWith('100') ? [{ ...entry, isLinked: true as const }] : []
  })
}

/** What git finds at a path of a commit: id, kind, size. */
function ask(gitDir: string, name: string): string[] {
  return git(gitDir, ['cat-file', '--batch-check', '--follow-symlinks'], `${name}\n`).toString().trimEnd().split(' ')
}

function listPlainTree(gitDir: string, tree: string): Entry[] {
  return git(gitDir, ['ls-tree', '-r', '-z', '-l', '--full-tree', tree])
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
export function ignoredBelow(gitDir: string, folder: string, patterns: readonly string[], paths: readonly string[]): string[] {
  if (patterns.length === 0 || paths.length === 0) return []
  const scratch = mkdtempSync(join(tmpdir(), 'mountglass-ignored-'))
  try {
    const [work, exclude] = [join(scratch, 'work'), join(scratch, 'exclude')]
    mkdirSync(work)
    writeFileSync(exclude, patterns.map(pattern => `${pattern}\n`).join(''))
    const relative = paths.map(path => (folder === '' ? path : path.slice(folder.length + 1)))
    const place = [`--git-dir=${gitDir}`, `--work-tree=${work}`, '-c', `core.excludesFile=${exclude}`]
    const { status, stdout, stderr } = spawnSync('git', [...place, 'check-ignore', '--no-index', '-v', '-n', '-z', '--stdin'], {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
      input: relative.map(path => `${path}\0`).join(''),
      maxBuffer: 64 * MIB,
    })
    // 1: it ignores none of them.
    if (status !== 0 && status !== 1) throw new Error(`git check-ignore: ${status} ${stderr}`)
    // Four fields a path: source, line, pattern, path. A pattern that begins with `!` gives the path back.
    const fields = stdout.toString('utf8').split('\0')
    return relative.flatMap((path, index) => {
      const pattern = fields[4 * index + 2] ?? ''
      return pattern === '' || pattern.startsWith('!') ? [] : [posix.join(folder, path)]
    })
  } finally {
    rmSync(scratch, { recursive: true })
  }
}
