import { printable } from '#core/hidden-text.ts'
import { INDEX_WALL_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import { ReadError } from '#core/ports/git-host.ts'
import { compareRead, type DiffReport, readSide } from '#indexer/check/difference.ts'
import { formatDifference } from '#indexer/check/difference-text.ts'
import { FAIL_ON, type FailOn, FailOnError, failuresOf, parseFailOn } from '#indexer/check/fail-on.ts'
import { withDigestsLike } from '#indexer/check/file-digests.ts'
import { formatFailure, formatJson } from '#indexer/check/terminal.ts'
import { errorCodeOf, IndexError } from '#indexer/pipeline/index-error.ts'
import { findBase, openCommit } from '#infra/worktree/commit.ts'
import { findFormerWorktree, findWorktree, WorktreeError } from '#infra/worktree/place.ts'
import { openWorktree } from '#infra/worktree/reader.ts'
import { messageIn } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { createProgressLine, type ProgressLine } from './progress-line.ts'
import { columnsOfOutput, fileLinksOf, paint } from './terminal.ts'

export interface DiffOptions {
  /** The old side: anything that git takes for a commit. Default: where the branch left the default branch, else `HEAD`. */
  from?: string
  /** Kinds of differences that give exit code 1, separated by commas. */
  failOn?: string
  json?: boolean
  /** Compare as a private repository, which serves every file whatever its license. */
  private?: boolean
  all?: boolean
}

const EXIT_OK = 0
/** A difference that `failOn` names. */
const EXIT_FAILED = 1
/** The folder, the ref or an option is wrong, or a side cannot be read. */
const EXIT_USAGE = 2

/** `mountglass diff [<folder>]`: prints what agents will read differently. Exit code 0, 1 (`--fail-on`) or 2 (nothing could be compared). */
export async function diffFolder(folder: string, options: DiffOptions): Promise<number> {
  try {
    const wanted = wantedOf(options)
    const progress = createProgressLine()
    const { report, root } = await readDifference(folder, options, progress).finally(progress.end)
    const failures = report.status === 'compared' ? failuresOf(report, wanted) : []
    const width = columnsOfOutput()
    if (options.json) process.stdout.write(formatJson(report, 2))
    else if (report.status === 'failed') process.stdout.write(formatFailure(report.errorCode, report.message, { paint, width }))
    else {
      const how = { paint, width, all: options.all === true, linkTo: fileLinksOf(root), failures }
      process.stdout.write(formatDifference(report, how))
    }
    if (report.status === 'failed') return EXIT_USAGE
    return failures.length > 0 ? EXIT_FAILED : EXIT_OK
  } catch (error) {
    if (!(error instanceof WorktreeError || error instanceof FailOnError)) throw error
    process.stderr.write(`mountglass: ${printable(messageIn(error))}\n`)
    return EXIT_USAGE
  }
}

/** @throws FailOnError also if the option names no kind: a variable that is not set would let everything pass */
function wantedOf({ failOn }: DiffOptions): FailOn[] {
  if (failOn === undefined) return []
  const wanted = parseFailOn(failOn)
  if (wanted.length === 0) throw new FailOnError(t('problem.noDifferenceNamed', { names: FAIL_ON.join(', ') }))
  return wanted
}

interface Reading {
  report: DiffReport
  /** The folder in which the paths of the report begin. */
  root: string
}

/** @throws WorktreeError */
async function readDifference(folder: string, options: DiffOptions, progress: ProgressLine): Promise<Reading> {
  const limits = { treeEntries: TREE_ENTRIES, seconds: INDEX_WALL_SECONDS }
  const worktree = await openWorktree(folder, limits, findFormerWorktree)
  const { root, gitDir, folder: path } = worktree.description
  try {
    if (gitDir === null) throw new WorktreeError(t('problem.notInGit', { folder }))
    const from = await findBase(gitDir, options.from ?? null)
    const repository = { name: 'repository', visibility: options.private ? 'private' : 'public' } as const
    const old = await openCommit(gitDir, from.commit, LIMITS)
    try {
      const before = await readSide(old, repository, path, progress.report)
      const after = await readSide(worktree, repository, path, progress.report)
      const digests = (file: string, sizeBytes: number) => worktree.digests(after.placeOf(file), sizeBytes)
      const items = await withDigestsLike(before.items, after.items, digests)
      const compared = await compareRead(before, { ...after, items }, { from, to: { commit: null }, path })
      // A folder that is on neither side is misspelt.
      if (compared.items.length === 0) await findWorktree(folder)
      return { report: compared, root }
    } finally {
      await old.close()
    }
  } catch (error) {
    if (!(error instanceof IndexError || error instanceof ReadError)) throw error
    return { report: { format: 1, status: 'failed', errorCode: errorCodeOf(error), message: error.message }, root }
  } finally {
    await worktree.close()
  }
}

const LIMITS = {
  treeEntries: TREE_ENTRIES,
  treeDepthSegments: Number.MAX_SAFE_INTEGER,
  seconds: INDEX_WALL_SECONDS,
}
