import { text } from 'node:stream/consumers'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { HISTORY_COMMITS, SUBJECT_CHARACTERS } from '#core/limits.ts'
import type { HistoryCommit, PathHistory } from '#core/ports/git-host.ts'
import { truncateCharacters } from '#core/text.ts'
import { type ObjectBatch, openObjectBatch } from './object-batch.ts'
import { GitError, type GitResources, startGit } from './process.ts'
import { readCommit, UnreadableCommit } from './tree-objects.ts'

/** A walk compares trees of every commit until enough of them changed a path; a hostile history has millions. */
const WALK: GitResources = { cpuSeconds: 5, fileBytes: 1024 * 1024, memoryBytes: 1024 * 1024 * 1024 }
/** Paths that git compares in each commit, and the bytes of them that fit into its arguments. */
const PATHS = 200
const PATHS_BYTES = 64 * 1024
/** Of the parents only whether there are any: a hostile commit has as many as fit into its megabytes. */
const FORMAT = '--format=%H %<(8,trunc)%P'
/** Of a message, for its first line. */
const MESSAGE_BYTES = 16 * 1024

/**
 * The latest commits, from one backwards, that changed a file at one of the paths. If the walk times out, or comes to a commit that is damaged, the
 * commits that it found until then.
 *
 * Git only finds them, and believes the index of a pack about what lies under an id. What is told of each is read from bytes that have its id.
 *
 * @param paths of files, as they are: git interprets none
 * @throws GitError when git could not be started, or found the repository damaged before the first commit; UnreadableCommit when that one is damaged
 */
export async function readPathHistory(
  gitDir: string,
  commit: CommitSha,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<PathHistory> {
  const asked = pathsWithin(paths)
  if (asked.length === 0) return { commits: [], paths: [], isCut: false }
  const { found, isCut } = await findCommits(gitDir, commit, asked, signal)
  const batch = openObjectBatch({ gitDir, signal, resources: WALK })
  const commits: HistoryCommit[] = []
  try {
    for (const { id, isFirst } of found) {
      const entry = await readEntry(batch, id)
      commits.push(isFirst ? { ...entry, parent: null } : entry)
    }
  } catch (error) {
    const isDamaged = error instanceof UnreadableCommit
    if (isDamaged ? commits.length === 0 : !signal.aborted) throw error
  } finally {
    await batch.close()
  }
  return { commits, paths: asked, isCut: isCut || commits.length < found.length }
}

interface FoundCommit {
  id: CommitSha
  /** The history begins here, in a shallow clone also where the commit has a parent. */
  isFirst: boolean
}

async function findCommits(
  gitDir: string,
  commit: CommitSha,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ found: FoundCommit[]; isCut: boolean }> {
  const options = [`--max-count=${HISTORY_COMMITS + 1}`, '--no-commit-header', FORMAT, '--end-of-options', commit, '--', ...paths]
  const git = startGit(['rev-list', ...options], { gitDir, signal, resources: WALK })
  git.input.end()
  try {
    const output = await text(git.output)
    const end = await git.ended
    const lines = output.split('\n').map(line => line.split(' '))
    const found = lines.flatMap(([id = '', parent]) => (isCommitSha(id) ? { id: id as CommitSha, isFirst: !parent } : []))
    if (end.status !== 0 && found.length === 0) throw new GitError('rev-list', end)
    return { found: found.slice(0, HISTORY_COMMITS), isCut: end.status !== 0 || found.length > HISTORY_COMMITS }
  } finally {
    await git.stop()
  }
}

/** The first paths that fit into one question to git: `PATHS` of them, with `PATHS_BYTES` together. */
function pathsWithin(paths: readonly string[]): string[] {
  let bytes = 0
  return paths.slice(0, PATHS).filter(path => {
    bytes += Buffer.byteLength(path) + 1
    return bytes <= PATHS_BYTES
  })
}

async function readEntry(batch: ObjectBatch, commit: CommitSha): Promise<HistoryCommit> {
  const { parent, committedAt, message, encoding } = await readCommit(batch, commit)
  return { commit, parent, committedAt, subject: commitSubject(decoderOf(encoding).decode(message.subarray(0, MESSAGE_BYTES))) }
}

/** A commit may name any encoding. */
function decoderOf(encoding: string | null): TextDecoder {
  try {
    return new TextDecoder(encoding ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}

/** More of a message is never looked at. */
const READ_UNITS = 4 * SUBJECT_CHARACTERS

/** The first line of a commit's message, which a stranger wrote: one line of visible characters, `SUBJECT_CHARACTERS` at most. */
export function commitSubject(message: string): string {
  const line =
    message
      .slice(0, READ_UNITS)
      .trimStart()
      .split(/[\r\n]/, 1)[0] ?? ''
  return truncateCharacters(visibleLine(line), SUBJECT_CHARACTERS)
}
