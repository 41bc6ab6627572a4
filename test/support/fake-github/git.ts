import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { loosePath } from '../git-objects.ts'
import { linesOf, readLines, runGit, runGitOnRefs, startGit } from './git-process.ts'
import { findLoose, type ObjectInfo } from './loose-objects.ts'
import type { Repository, World } from './world.ts'

/** What the names mean, as git's object names; `null` where there is nothing. */
async function findObjects(world: World, repository: Repository, names: readonly string[]): Promise<(ObjectInfo | null)[]> {
  const loose = await Promise.all(names.map(name => findLoose(world, repository, name)))
  if (!loose.includes(undefined)) return loose as (ObjectInfo | null)[]
  const input = names.map(name => `${name}\n`).join('')
  return (await readLines(world, repository, ['cat-file', '--batch-check'], { input })).map(line => {
    const [, oid = '', type = '', size = ''] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(line) ?? []
    return oid === '' ? null : { oid, type, sizeBytes: Number(size) }
  })
}

/** A ref name holds none of what makes a revision expression, so nothing of that is ever understood. */
const NO_REF_NAME = /\.\.|@\{|[\p{Cc} ~^:?*[\\]/u
const OID = /^[0-9a-f]{40}$/i
const SHORT_OID = /^[0-9a-f]{4,39}$/i

export type ResolvedRef = { status: 'ok'; commit: string; fullName: string | null } | { status: 'missing' } | { status: 'empty' }

/**
 * The commit that a ref of the API means: a full id of any object of the network, a branch or tag, `heads/…`, `tags/…`,
 * `pull/…`, `refs/…`, `HEAD`, or the beginning of an id. Tags are peeled.
 */
export async function resolveRef(world: World, repository: Repository, ref: string): Promise<ResolvedRef> {
  const names = NO_REF_NAME.test(ref) || ref.startsWith('-') ? [] : candidates(world, ref)
  const found = await findObjects(
    world,
    repository,
    [...names, 'HEAD'].map(name => `${name}^{commit}`),
  )
  const head = found.at(-1)
  const index = found.findIndex((object, position) => object !== null && position < names.length)
  const [object, name] = [found[index], names[index]]
  if (object && name) return { status: 'ok', commit: object.oid, fullName: name.startsWith('refs/') ? name : null }
  return head === null && (await isEmpty(world, repository)) ? { status: 'empty' } : { status: 'missing' }
}

function candidates(world: World, ref: string): string[] {
  const branch = `refs/heads/${ref}`
  const tag = `refs/tags/${ref}`
  const named = world.ambiguousRefs === 'branch' ? [branch, tag] : [tag, branch]
  return [
    ...(OID.test(ref) || ref === 'HEAD' ? [ref] : []),
    ...named,
    ref.startsWith('refs/') ? ref : `refs/${ref}`,
    ...(SHORT_OID.test(ref) ? [ref] : []),
  ]
}

export async function isEmpty(world: World, repository: Repository): Promise<boolean> {
  return linesOf(await runGitOnRefs(world, repository, ['for-each-ref', '--count=1'])).length === 0
}

/** The branch that HEAD names, born or not. */
export async function defaultBranch({ gitDir }: Repository): Promise<string> {
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '')
  return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? 'main'
}

/** When the newest commit of a branch was made, in milliseconds; `null` while there is none. */
export async function newestCommitAt(world: World, repository: Repository): Promise<number | null> {
  const loose = await looseCommitTimes(repository)
  if (loose !== null) return loose.length === 0 ? null : Math.max(...loose) * 1000
  const args = ['for-each-ref', '--count=1', '--sort=-committerdate', '--format=%(committerdate:unix)', 'refs/heads']
  const [seconds] = linesOf(await runGitOnRefs(world, repository, args))
  return seconds === undefined ? null : Number(seconds) * 1000
}

/** When the commits of the branches were made, in seconds; `null` unless branches and commits are files of their own, which need no git. */
async function looseCommitTimes({ gitDir }: Repository): Promise<number[] | null> {
  try {
    if (existsSync(join(gitDir, 'packed-refs'))) return null
    const names = await readdir(join(gitDir, 'refs/heads'), { recursive: true, withFileTypes: true })
    const refs = names.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    return await Promise.all(
      refs.map(async ref => {
        const oid = (await readFile(ref, 'utf8')).trim()
        const commit = inflateSync(await readFile(loosePath(gitDir, oid))).toString('latin1')
        return Number(/^committer .* (\d+) [+-]\d+$/m.exec(commit)?.[1])
      }),
    )
  } catch {
    return null
  }
}

export interface CommitPerson {
  name: string
  email: string
  date: string
}

export interface CommitFacts {
  sha: string
  tree: string
  parents: string[]
  author: CommitPerson
  committer: CommitPerson
  message: string
}

const COMMIT_FORMAT = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x00')

/** Newest first. `range` is a commit, or what `git log` takes to mean several. With paths, those that changed one of them. */
export async function readCommits(
  world: World,
  repository: Repository,
  range: readonly string[],
  limit: number,
  skip = 0,
  paths: readonly string[] = [],
): Promise<CommitFacts[]> {
  const form = `--format=tformat:${COMMIT_FORMAT}%x01`
  const args = ['log', '-z', `--max-count=${limit}`, `--skip=${skip}`, form, ...range, '--', ...paths]
  const text = (await runGit(world, repository, args)).toString()
  const person = (name = '', email = '', seconds = '0') => ({
    name,
    email,
    date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z'),
  })
  return text
    .split('\x01\0')
    .filter(part => part !== '')
    .map(part => {
      const [sha = '', tree = '', parents = '', an, ae, at, cn, ce, ct, message = ''] = part.split('\0')
      return {
        sha,
        tree,
        parents: parents === '' ? [] : parents.split(' '),
        author: person(an, ae, at),
        committer: person(cn, ce, ct),
        message: message.replace(/\n+$/, ''),
      }
    })
}

export interface Comparison {
  mergeBase: string
  aheadBy: number
  behindBy: number
}

/** `null` when the two have no ancestor in common. */
export async function compareCommits(
  world: World,
  repository: Repository,
  base: string,
  head: string,
): Promise<Comparison | null> {
  const mergeBase = (await runGit(world, repository, ['merge-base', base, head], { statuses: [1] })).toString().trim()
  if (mergeBase === '') return null
  const [counts = ''] = await readLines(world, repository, ['rev-list', '--left-right', '--count', `${base}...${head}`])
  const [behindBy = 0, aheadBy = 0] = counts.split('\t').map(Number)
  return { mergeBase, aheadBy, behindBy }
}

export interface ChangedFile {
  path: string
  oid: string
  status: 'added' | 'removed' | 'modified'
  additions: number
  deletions: number
}

/** What differs; `from` is `null` for a commit without parents. Renames count as a removed and an added file. */
export async function changedFiles(
  world: World,
  repository: Repository,
  from: string | null,
  to: string,
): Promise<ChangedFile[]> {
  const trees = from === null ? ['--root', to] : [from, to]
  const shown = ['diff-tree', '-r', '-z', '--no-commit-id', '--no-renames', '--raw', '--numstat']
  // First a line of facts and a path for each file, then a line of counts for each.
  const said = (await runGit(world, repository, [...shown, ...trees])).toString().split('\0')
  const countsAt = said.findIndex((line, index) => index % 2 === 0 && !line.startsWith(':'))
  const raw = said.slice(0, countsAt)
  const lines = new Map(
    said.slice(countsAt).map(line => {
      const [additions = '', deletions = '', path = ''] = line.split('\t')
      return [path, { additions: Number(additions) || 0, deletions: Number(deletions) || 0 }]
    }),
  )
  const files: ChangedFile[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const [, , before = '', after = '', letter = ''] = raw[index]?.split(' ') ?? []
    const path = raw[index + 1] ?? ''
    const status = letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'modified'
    files.push({ path, oid: letter === 'D' ? before : after, status, ...(lines.get(path) ?? { additions: 0, deletions: 0 }) })
  }
  return files
}

export interface TreeRow {
  path: string
  mode: string
  type: string
  oid: string
  sizeBytes: number | null
}

/** The entries of a tree in git's order, folders among them. `cut`: there were more than `limit`. */
export async function readTree(
  world: World,
  repository: Repository,
  tree: string,
  recursive: boolean,
  limit: number,
): Promise<{ rows: TreeRow[]; cut: boolean }> {
  const git = startGit(world, repository, ['ls-tree', '-z', '-l', ...(recursive ? ['-r', '-t'] : []), tree])
  const rows: TreeRow[] = []
  let rest = Buffer.alloc(0)
  for await (const chunk of git.output as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk])
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      // Paths that are no UTF-8 come out with replacement characters. UNVERIFIED of the real host.
      const [, mode = '', type = '', oid = '', size = '', path = ''] =
        /^(\d+) (\w+) ([0-9a-f]+) +(\S+)\t(.*)$/s.exec(rest.toString('utf8', 0, end)) ?? []
      rest = rest.subarray(end + 1)
      if (rows.length === limit) return { rows, cut: true }
      rows.push({ path, mode, type, oid, sizeBytes: size === '-' ? null : Number(size) })
    }
  }
  const { status, errors } = await git.ended
  if (status !== 0) throw new Error(`git ls-tree: ${errors}`)
  return { rows, cut: false }
}

export async function findObject(world: World, repository: Repository, oid: string): Promise<ObjectInfo | null> {
  return (await findObjects(world, repository, [oid]))[0] ?? null
}

export async function readBlob(world: World, repository: Repository, oid: string): Promise<Buffer> {
  return runGit(world, repository, ['cat-file', 'blob', oid])
}

/** The blob at a path of a commit; `null` when there is none. */
export async function findBlob(world: World, repository: Repository, commit: string, path: string): Promise<ObjectInfo | null> {
  if (/\n/.test(path)) return null
  const object = (await findObjects(world, repository, [`${commit}:${path}`]))[0] ?? null
  return object?.type === 'blob' ? object : null
}
