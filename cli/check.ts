import { once } from 'node:events'
import { printable } from '#core/hidden-text.ts'
import { INDEX_WALL_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import { ReadError } from '#core/ports/git-host.ts'
import { createMemorySnapshot, skillPathsOf } from '#indexer/check/memory-snapshot.ts'
import { buildReport, withChanges } from '#indexer/check/report.ts'
import { type CheckReport, hasErrors } from '#indexer/check/schema.ts'
import { formatFailure, formatJson, formatReport } from '#indexer/check/terminal.ts'
import { errorCodeOf, IndexError } from '#indexer/pipeline/index-error.ts'
import { indexRepository } from '#indexer/pipeline/index-repository.ts'
import { readTree } from '#indexer/pipeline/read-tree.ts'
import { WorktreeError } from '#infra/worktree/place.ts'
import { openWorktree } from '#infra/worktree/reader.ts'
import { createWorktreeWatcher } from '#infra/worktree/watcher.ts'
import { messageIn } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { createProgressLine, type ProgressLine } from './progress-line.ts'
import { columnsOfOutput, fileLinksOf, paint } from './terminal.ts'

export interface CheckOptions {
  /** Print one JSON document instead of text; with `watch`, one per line. */
  json?: boolean
  /** Check again after every change, until interrupted. */
  watch?: boolean
  /** Check as a private repository, which serves every file whatever its license. */
  private?: boolean
  /** Print every list in full. */
  all?: boolean
  /** Print what agents receive with each skill, and every list in full. */
  verbose?: boolean
}

/** No errors; there may be warnings. */
const EXIT_OK = 0
/** Errors keep content from agents. */
const EXIT_ERRORS = 1
/** The folder does not exist or is not readable. */
const EXIT_USAGE = 2

/** `mountglass check <folder>`: prints what agents would receive from a working folder. Exit code 0, 1 (errors) or 2 (no readable folder). */
export async function checkFolder(folder: string, options: CheckOptions): Promise<number> {
  return options.watch ? await watchFolder(folder, options) : (await checkOnce(folder, options)).exitCode
}

interface Outcome {
  exitCode: number
  /** `null`: the folder could not be read. */
  report: CheckReport | null
}

/** @param earlier the report to compare with; `null`: there is none */
async function checkOnce(
  folder: string,
  options: CheckOptions,
  earlier: CheckReport | null = null,
  signal?: AbortSignal,
): Promise<Outcome> {
  const startedAt = performance.now()
  try {
    // The first report waits for the start of the process, too.
    const progress = createProgressLine(earlier === null ? {} : { startedAt })
    const { report, root } = await readReport(folder, options, progress, signal).finally(progress.end)
    print(withChanges(earlier, report), root, options, Math.round(performance.now() - startedAt))
    return { exitCode: hasErrors(report) ? EXIT_ERRORS : EXIT_OK, report }
  } catch (error) {
    if (!(error instanceof WorktreeError)) throw error
    process.stderr.write(`mountglass: ${printable(messageIn(error))}\n`)
    return { exitCode: EXIT_USAGE, report: null }
  }
}

interface Reading {
  report: CheckReport
  /** The folder in which the paths of the report begin. */
  root: string
}

/** What `mountglass check` reports of a folder. @throws WorktreeError */
export async function readReport(
  folder: string,
  options: Pick<CheckOptions, 'private'>,
  progress: Pick<ProgressLine, 'report'> = { report() {} },
  signal?: AbortSignal,
): Promise<Reading> {
  const worktree = await openWorktree(folder, { treeEntries: TREE_ENTRIES, seconds: INDEX_WALL_SECONDS })
  const { root, gitDir, folder: mounted } = worktree.description
  try {
    const visibility = options.private ? 'private' : 'public'
    const repository = { name: nameOf(root), visibility } as const
    const tree = await readTree(worktree, progress.report)
    const snapshot = await indexRepository(createMemorySnapshot(), tree, repository, {
      onProgress: progress.report,
      ...(signal && { signal }),
    })
    const source = gitDir === null ? 'folder' : 'git'
    const skillPaths = skillPathsOf(tree)
    const subject = { folder: mounted, source, visibility, unseen: worktree.unseen, skillPaths } as const
    return { report: buildReport(snapshot, subject), root }
  } catch (error) {
    if (!(error instanceof IndexError || error instanceof ReadError)) throw error
    return { report: { format: 1, status: 'failed', errorCode: errorCodeOf(error), message: error.message }, root }
  } finally {
    await worktree.close()
  }
}

function nameOf(root: string): string {
  return root.split(/[\\/]/).findLast(segment => segment !== '') ?? 'repository'
}

function print(report: CheckReport, root: string, options: CheckOptions, milliseconds: number): void {
  const { json, watch, verbose = false } = options
  const width = columnsOfOutput()
  if (json) process.stdout.write(formatJson(report, watch ? undefined : 2))
  else if (report.status === 'failed') process.stdout.write(formatFailure(report.errorCode, report.message, { paint, width }))
  else {
    const all = verbose || options.all === true
    process.stdout.write(formatReport(report, { paint, width, all, verbose, milliseconds, linkTo: fileLinksOf(root) }))
  }
}

async function watchFolder(folder: string, options: CheckOptions): Promise<number> {
  const watcher = createWorktreeWatcher()
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  const interrupted = once(stop.signal, 'abort')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  // A closed pipe ends the watch: its reports have no reader.
  process.stdout.once('error', interrupt)
  let outcome: Outcome = { exitCode: EXIT_OK, report: null }
  try {
    for (let round = 0; !stop.signal.aborted; round++) {
      await watcher.follow(folder)
      if (watcher.unwatched > 0) {
        process.stderr.write(`mountglass: ${t('check.notWatched', { n: watcher.unwatched })}\n`)
      }
      separate(round, options)
      const { exitCode, report } = await checkOnce(folder, options, outcome.report, stop.signal)
      // A folder that is gone for a moment is compared with what it was before.
      outcome = { exitCode, report: report ?? outcome.report }
      if (round === 0 && exitCode === EXIT_USAGE) return exitCode
      await Promise.race([interrupted, watcher.changed()])
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    process.stdout.off('error', interrupt)
    watcher.close()
  }
  return outcome.exitCode
}

/** Clears a terminal before a new report; in a file or a pipe an empty line separates reports. */
function separate(round: number, { json }: CheckOptions): void {
  if (json) return
  if (process.stdout.isTTY) process.stdout.write('\u001B[H\u001B[2J')
  else if (round > 0) process.stdout.write('\n')
}
