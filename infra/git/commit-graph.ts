import { CommitGraph, type ListedCommit } from '#core/commit-graph.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { KNOWN_COMMITS } from '#core/limits.ts'
import { GitError, type GitResources, startGit } from './process.ts'
import { dateOf } from './tree-objects.ts'

/** Lists commits from the newest on and stops early; a hostile history has millions, and commits with thousands of parents. */
const WALK: GitResources = { cpuSeconds: 5, fileBytes: 1024 * 1024, memoryBytes: 1024 * 1024 * 1024 }
/** What is read of a list; a hostile commit has as many parents as fit into its megabytes. */
const LIST_BYTES = 8 * 1024 * 1024
const LINE = /^(\d{1,12}) ([0-9a-f]{40})((?: [0-9a-f]{40})*)$/

/**
 * The newest commits that the tips lead to, `KNOWN_COMMITS` at most; fewer if the walk times out. Damaged and missing parts of the history are left
 * out.
 *
 * @param tips ids of branches and tags; annotated ones are peeled
 * @throws GitError when git could not be started
 */
export async function readCommitGraph(gitDir: string, tips: readonly string[], signal: AbortSignal): Promise<CommitGraph> {
  const commits = await listCommits(gitDir, tips, signal)
  const listed = new Set(commits.map(({ id }) => id))
  const others = tips.filter(tip => !listed.has(tip)).slice(0, KNOWN_COMMITS)
  return new CommitGraph(commits, others.length === 0 ? new Map() : await peelAll(gitDir, others, signal))
}

async function listCommits(gitDir: string, tips: readonly string[], signal: AbortSignal): Promise<ListedCommit[]> {
  const options = ['--stdin', '--ignore-missing', '--timestamp', '--parents', `--max-count=${KNOWN_COMMITS}`]
  const output = await outputOf(['rev-list', ...options], tips.map(tip => `${tip}\n`).join(''), gitDir, signal)
  return output.split('\n').flatMap((line): ListedCommit[] => {
    const [, seconds, id = '', parents = ''] = LINE.exec(line) ?? []
    if (id === '') return []
    const at = dateOf(seconds)
    return [{ id, seconds: at === null ? null : Number(seconds), parents: parents.split(' ').filter(Boolean) }]
  })
}

/** The commits that annotated tags lead to, by the tag's own id, and old commits by theirs. */
async function peelAll(gitDir: string, oids: readonly string[], signal: AbortSignal): Promise<Map<string, CommitSha>> {
  const input = oids.map(oid => `${oid}^{commit}\n`).join('')
  const lines = (await outputOf(['cat-file', '--batch-check'], input, gitDir, signal)).split('\n')
  const peeled = oids.map((oid, index): [string, string, string | undefined] => {
    const [commit = '', type] = lines[index]?.split(' ') ?? []
    return [oid, commit, type]
  })
  return new Map(
    peeled.flatMap(([oid, commit, type]) => (type === 'commit' && isCommitSha(commit) ? [[oid, commit as CommitSha]] : [])),
  )
}

/** The whole lines that git writes until it ends, or reaches a limit. */
async function outputOf(args: readonly string[], input: string, gitDir: string, signal: AbortSignal): Promise<string> {
  const git = startGit(args, { gitDir, signal, resources: WALK })
  git.input.end(input)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of git.output as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > LIST_BYTES) break
    }
    if (bytes === 0) {
      const end = await git.ended
      if (end.status !== 0) throw new GitError(args[0] ?? '', end)
    }
    const output = Buffer.concat(chunks).toString('latin1')
    return output.slice(0, output.lastIndexOf('\n') + 1)
  } finally {
    await git.stop()
  }
}
