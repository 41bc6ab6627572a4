import type { Readable } from 'node:stream'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { commitSubject } from '#core/commit-subject.ts'
import { HISTORY_COMMITS } from '#core/limits.ts'
import type { HistoryCommit, PathHistory } from '#core/ports/git-host.ts'
import { GitError, type GitResources, startGit } from './process.ts'
import { dateOf } from './tree-objects.ts'

/** A walk compares trees of every commit until enough of them changed a path; a hostile history has millions. */
const WALK: GitResources = { cpuSeconds: 5, fileBytes: 1024 * 1024, memoryBytes: 1024 * 1024 * 1024 }
/** Paths that git compares in each commit, and the bytes of them that fit into its arguments. */
const PATHS = 200
const PATHS_BYTES = 64 * 1024
/** Of the answer: a commit may have a subject of megabytes. */
const OUTPUT_BYTES = 1024 * 1024
const FORMAT = '%H %ct %P%x00%s'

/**
 * The latest commits, from one backwards, that changed a file at one of the paths. If the walk times out, the commits that it found until then.
 *
 * @param paths of files, as they are: git interprets none
 * @throws GitError when git could not be started, or found the repository damaged before the first commit
 */
export async function readPathHistory(
  gitDir: string,
  commit: CommitSha,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<PathHistory> {
  const asked = pathsWithin(paths)
  if (asked.length === 0) return { commits: [], paths: [], isCut: false }
  const options = [`--max-count=${HISTORY_COMMITS + 1}`, '--no-commit-header', `--format=${FORMAT}`, '--encoding=UTF-8']
  const git = startGit(['rev-list', ...options, '--end-of-options', commit, '--', ...asked], { gitDir, signal, resources: WALK })
  git.input.end()
  try {
    const { commits, isWhole } = await readCommits(git.output)
    const end = isWhole ? await git.ended : null
    if (end !== null && end.status !== 0 && commits.length === 0) throw new GitError('rev-list', end)
    const isCut = end?.status !== 0 || commits.length > HISTORY_COMMITS
    return { commits: commits.slice(0, HISTORY_COMMITS), paths: asked, isCut }
  } finally {
    await git.stop()
  }
}

/** The first paths, as many as git is asked about at once. */
function pathsWithin(paths: readonly string[]): string[] {
  let bytes = 0
  return paths.slice(0, PATHS).filter(path => {
    bytes += Buffer.byteLength(path) + 1
    return bytes <= PATHS_BYTES
  })
}

/** The commits of the output; `isWhole` is false when there is more of it than is read. */
async function readCommits(output: Readable): Promise<{ commits: HistoryCommit[]; isWhole: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of output as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > OUTPUT_BYTES) break
  }
  const lines = Buffer.concat(chunks).toString().split('\n')
  return { commits: lines.slice(0, -1).flatMap(line => parseCommit(line) ?? []), isWhole: bytes <= OUTPUT_BYTES }
}

function parseCommit(line: string): HistoryCommit | null {
  const at = line.indexOf('\0')
  const [commit = '', seconds = '', parent = ''] = line.slice(0, Math.max(0, at)).split(' ')
  if (!isCommitSha(commit)) return null
  return {
    commit: commit as CommitSha,
    parent: isCommitSha(parent) ? (parent as CommitSha) : null,
    committedAt: /^\d{1,11}$/.test(seconds) ? dateOf(seconds) : null,
    subject: commitSubject(line.slice(at + 1)),
  }
}
