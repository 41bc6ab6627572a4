import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inflateSync, constants as zlib } from 'node:zlib'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { TipSet } from '../git/history.ts'
import { GitError, type GitResources, runGit, startGit } from '../git/process.ts'
import { ifAbsent } from '../git/safe-open.ts'

/** `absent`: the object, or what a tag points at, is missing or cannot be read. `treeless`: a commit whose tree is. `null`: another object. */
type Peeled = CommitSha | 'absent' | { treeless: string } | null

/** Peels a tag, or a tag of a tag, to its commit; returns a commit as it is. @throws GitError */
export async function peel(gitDir: string, oid: string, signal: AbortSignal): Promise<Peeled> {
  // Most refs name a commit, and a new one is a file of its own: a process of git takes longer than everything else of the answer.
  if (isCommitSha(oid) && (await isLooseCommit(gitDir, oid))) return oid as CommitSha
  const output = await runGit(['cat-file', '--batch-check'], { gitDir, signal, input: `${oid}^{}\n${oid}^{tree}\n` }).catch(
    ifAnswered,
  )
  const [peeled = '', type, tree] = (output?.toString().trimEnd().split('\n') ?? []).flatMap((line, index) =>
    index === 0 ? line.split(' ').slice(0, 2) : [line],
  )
  if (type === undefined || type === 'missing') return 'absent'
  if (type === 'commit' && (tree === undefined || tree.endsWith(' missing'))) return { treeless: peeled }
  return type === 'commit' && isCommitSha(peeled) ? (peeled as CommitSha) : null
}

/** Whether the object is a file of its own and begins as a commit does, and its tree is a file of its own, too. */
async function isLooseCommit(gitDir: string, oid: string): Promise<boolean> {
  const file = await open(
    join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2)),
    constants.O_RDONLY | constants.O_NOFOLLOW,
  ).catch(ifAbsent)
  if (file === null) return false
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES))
    const header = inflateSync(buffer.subarray(0, bytesRead), { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength: INFLATED_BYTES })
    const [, tree] = /^commit \d+\0tree ([0-9a-f]{40})\n/.exec(header.toString('latin1', 0, HEADER_BYTES)) ?? []
    return tree !== undefined && (await isFileWithBytes(join(gitDir, 'objects', tree.slice(0, 2), tree.slice(2))))
  } catch {
    return false // git says what is wrong with it
  } finally {
    await file.close()
  }
}

async function isFileWithBytes(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && found.size > 0
}

/** Compressed bytes that hold type, size and tree. */
const HEADER_BYTES = 256
/** So many bytes of zeros take as many compressed ones. */
const INFLATED_BYTES = 512 * 1024

/** A walk holds every commit that it has seen; a hostile history has millions. */
const WALK: GitResources = { cpuSeconds: 30, fileBytes: 1024 * 1024, memoryBytes: 1024 * 1024 * 1024 }

/** `unknown`: the commit, or a part of the history, is not there. `treeless`: a tip leads to the commit, whose tree is not there. */
export type Reached = 'yes' | 'treeless' | 'no' | 'unknown'

/** A walk of the history took too long, a short while ago. */
export class UnfinishedWalk extends Error {
  constructor(options?: ErrorOptions) {
    super('the history is too large to search', options)
    this.name = 'UnfinishedWalk'
  }
}

/** A branch, a tag or HEAD names an object that is missing or cannot be read, or whose commit or tree is. */
export class DamagedRepository extends Error {
  constructor(oid: string) {
    super(`the object ${oid}, which a ref names, its commit or its tree is missing or damaged`)
    this.name = 'DamagedRepository'
  }
}

/** Whether a tip leads to the commit. @throws GitError when git was killed or could not be started */
export async function reach(gitDir: string, tips: TipSet, commit: CommitSha, signal: AbortSignal): Promise<Reached> {
  const peeled = tips.oids.length === 0 ? null : await peel(gitDir, commit, signal)
  const isTreeless = typeof peeled === 'object' && peeled?.treeless === commit
  if (peeled !== commit && !isTreeless) return 'unknown'
  const reached = tips.oids.includes(commit) ? 'yes' : await walk(gitDir, tips, commit, signal)
  return reached === 'yes' && isTreeless ? 'treeless' : reached
}

async function walk(gitDir: string, tips: TipSet, commit: CommitSha, signal: AbortSignal): Promise<'yes' | 'no' | 'unknown'> {
  const input = [commit, ...tips.oids.map(oid => `^${oid}`), ''].join('\n')
  const rest = await runGit(['rev-list', '--max-count=1', '--stdin'], { gitDir, signal, input, resources: WALK }).catch(
    ifAnswered,
  )
  // This walk goes by date and may stop early after wrong clocks. The second one is slower and exact.
  return rest?.length === 0 ? 'yes' : searchAll(gitDir, tips, commit, signal)
}

/** Searches the commits behind all tips that exist. */
async function searchAll(
  gitDir: string,
  tips: TipSet,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<'yes' | 'no' | 'unknown'> {
  const git = startGit(['rev-list', '--ignore-missing', '--stdin'], { gitDir, signal, resources: WALK })
  git.input.end(tips.oids.map(oid => `${oid}\n`).join(''))
  try {
    let rest = Buffer.alloc(0)
    for await (const chunk of git.output as AsyncIterable<Buffer>) {
      const text = Buffer.concat([rest, chunk])
      if (text.includes(`${commit}\n`)) return 'yes'
      rest = text.subarray(-commit.length)
    }
    const end = await git.ended
    if (end.status === null) throw new GitError('rev-list', end)
    return end.status === 0 ? 'no' : 'unknown'
  } finally {
    await git.stop()
  }
}

/** For `catch`: `null` when git ended with a status, which means no. */
function ifAnswered(error: unknown): null {
  if (error instanceof GitError && error.status !== null) return null
  throw error
}
