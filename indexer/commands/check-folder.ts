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
  /** One JSON document in place of text; with `watch` one a line. */
  json?: boolean
  /** Checks again on every change, until interrupted. */
  watch?: boolean
  /** As a private repository, whose readers get everything whatever the license. */
  private?: boolean
  /** Cuts no list. */
  all?: boolean
}

/** Warnings at most. */
const EXIT_OK = 0
/** Agents would not get what the author means them to get. */
const EXIT_ERRORS = 1
/** There is no such folder, or it may not be read. */
const EXIT_USAGE = 2

/** `mountglass check <folder>`: what agents would get of a working folder, as it lies there. The exit code is 0, 1 (errors) or 2 (no such folder). */
export async function checkFolder(folder: string, options: CheckOptions): Promise<number> {
  process.stdout.on('error', leaveWhenNobodyReads)
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

/** For an output that closed early, as that of `head` does. */
function leaveWhenNobodyReads(error: NodeJS.ErrnoException): void {
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

// Colours only where the output is a terminal that wants them (`NO_COLOR`).
const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

async function watchFolder(folder: string, options: CheckOptions): Promise<number> {
  const watcher = createWorktreeWatcher()
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  const interrupted = once(stop.signal, 'abort')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  let exitCode = EXIT_OK
  try {
    for (let turn = 0; !stop.signal.aborted; turn++) {
      await watcher.follow(folder)
      if (watcher.unwatched > 0) process.stderr.write(`mountglass: changes in ${watcher.unwatched} folders cannot be watched\n`)
      separate(turn, options)
      exitCode = await checkOnce(folder, options, stop.signal)
      if (turn === 0 && exitCode === EXIT_USAGE) return exitCode
      await Promise.race([interrupted, watcher.changed()])
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    watcher.close()
  }
  return exitCode
}

/** A terminal is wiped before a new report; in a file or a pipe an empty line parts them. */
function separate(turn: number, { json }: CheckOptions): void {
  if (json) return
  if (process.stdout.isTTY) process.stdout.write('\u001B[H\u001B[2J')
  else if (turn > 0) process.stdout.write('\n')
}
