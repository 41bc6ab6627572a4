import { once } from 'node:events'
import { styleText } from 'node:util'
import { INDEX_WALL_WITH_FETCH_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import { ReadError } from '#core/ports/git-host.ts'
import { WorktreeError } from '#infra/worktree/place.ts'
import { openWorktree } from '#infra/worktree/reader.ts'
import { createWorktreeWatcher } from '#infra/worktree/watcher.ts'
import { createKeptSnapshot } from '../check/kept-snapshot.ts'
import { keepTexts } from '../check/kept-texts.ts'
import { buildReport } from '../check/report.ts'
import { type CheckReport, hasErrors } from '../check/schema.ts'
import { formatJson, formatReport, type Paint, printable } from '../check/terminal.ts'
import { loadTokenizer } from '../check/tokens.ts'
import { errorCodeOf, IndexError } from '../pipeline/index-error.ts'
import { indexRepository } from '../pipeline/index-repository.ts'
import { readTree } from '../pipeline/read-tree.ts'

export interface CheckOptions {
  /** Print one JSON document instead of text; with `watch`, one per line. */
  json?: boolean
  /** Check again after every change, until interrupted. */
  watch?: boolean
  /** Check as a private repository, which serves every file whatever its license. */
  private?: boolean
  /** Print every list in full. */
  all?: boolean
}

/** No errors; there may be warnings. */
const EXIT_OK = 0
/** Errors keep content from agents. */
const EXIT_ERRORS = 1
/** The folder does not exist or is not readable. */
const EXIT_USAGE = 2

/** `mountglass check <folder>`: prints what agents would receive from a working folder. Exit code 0, 1 (errors) or 2 (no readable folder). */
export async function checkFolder(folder: string, options: CheckOptions): Promise<number> {
  process.stdout.on('error', exitOnClosedPipe)
  return options.watch ? await watchFolder(folder, options) : await checkOnce(folder, options)
}

async function checkOnce(folder: string, options: CheckOptions, signal?: AbortSignal): Promise<number> {
  const startedAt = performance.now()
  try {
    const report = await readReport(folder, options, signal)
    print(report, options, Math.round(performance.now() - startedAt))
    return hasErrors(report) ? EXIT_ERRORS : EXIT_OK
  } catch (error) {
    if (!(error instanceof WorktreeError)) throw error
    process.stderr.write(`mountglass: ${printable(error.message)}\n`)
    return EXIT_USAGE
  }
}

/** @throws WorktreeError */
async function readReport(folder: string, options: CheckOptions, signal?: AbortSignal): Promise<CheckReport> {
  const worktree = await openWorktree(folder, { treeEntries: TREE_ENTRIES, seconds: INDEX_WALL_WITH_FETCH_SECONDS })
  try {
    const { root, gitDir, folder: mounted } = worktree.description
    const visibility = options.private ? 'private' : 'public'
    const repository = { name: nameOf(root), visibility } as const
    const tree = keepTexts(await readTree(worktree))
    const snapshot = await indexRepository(createKeptSnapshot(), tree, repository, signal ? { signal } : {})
    const source = gitDir === null ? 'folder' : 'git'
    const subject = { folder: mounted, source, visibility, unseen: worktree.unseen, textOf: tree.textOf } as const
    return buildReport(snapshot, subject, await loadTokenizer())
  } catch (error) {
    if (!(error instanceof IndexError || error instanceof ReadError)) throw error
    return { format: 1, status: 'failed', errorCode: errorCodeOf(error), message: error.message }
  } finally {
    await worktree.close()
  }
}

/** Ends the process when the reader of its output, for example `head`, has closed the pipe. */
function exitOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit(process.exitCode ?? EXIT_OK)
}

function nameOf(root: string): string {
  return root.split(/[\\/]/).findLast(segment => segment !== '') ?? 'repository'
}

function print(report: CheckReport, { json, all, watch }: CheckOptions, milliseconds: number): void {
  if (json) process.stdout.write(formatJson(report, watch ? undefined : 2))
  else if (report.status === 'failed')
    process.stdout.write(`${paint('red', '✗')} ${report.errorCode}: ${printable(report.message)}\n`)
  else process.stdout.write(formatReport(report, { paint, all: all === true, milliseconds }))
}

// Colors only on a terminal, and not with `NO_COLOR`. `FORCE_COLOR` overrides both.
const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

async function watchFolder(folder: string, options: CheckOptions): Promise<number> {
  const watcher = createWorktreeWatcher()
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  const interrupted = once(stop.signal, 'abort')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  let exitCode = EXIT_OK
  try {
    for (let round = 0; !stop.signal.aborted; round++) {
      await watcher.follow(folder)
      if (watcher.unwatched > 0) process.stderr.write(`mountglass: cannot watch ${watcher.unwatched} folders for changes\n`)
      separate(round, options)
      exitCode = await checkOnce(folder, options, stop.signal)
      if (round === 0 && exitCode === EXIT_USAGE) return exitCode
      await Promise.race([interrupted, watcher.changed()])
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    watcher.close()
  }
  return exitCode
}

/** Clears a terminal before a new report; in a file or a pipe an empty line separates reports. */
function separate(round: number, { json }: CheckOptions): void {
  if (json) return
  if (process.stdout.isTTY) process.stdout.write('\u001B[H\u001B[2J')
  else if (round > 0) process.stdout.write('\n')
}
