import type { Progress } from '#indexer/pipeline/progress.ts'
import { formatTenths, t } from '#words/t.ts'

/** How far a job has come, in words. */
function progressText({ stage, done, total }: Waited): string {
  if (stage === 'open' || done === 0) return t(`index.stages.${stage}`)
  return total === null ? t(`index.done.${stage}.some`, { done }) : t(`index.done.${stage}.ofAll`, { done, total })
}

/** `open`: a repository is fetched. */
type Waited = Progress | { stage: 'open'; done: 0; total: null }

export interface ProgressLine {
  report(progress: Progress): void
  /** Removes the line. */
  end(): void
}

/** A command that ends sooner shows no progress, which would only flicker. */
const QUIET_MS = 250
const REDRAWN_EVERY_MS = 100

interface Watched {
  /** As `performance.now()` counts: 0 is the start of the process, whose loading is waited for, too. */
  startedAt?: number
  /** What is waited for until the first report. Default: the tree of a folder. */
  first?: Waited['stage']
  env?: NodeJS.ProcessEnv
  stdout?: Pick<NodeJS.WriteStream, 'isTTY'>
  stderr?: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> & { write(text: string): unknown }
}

/** One line on stderr, rewritten in place, while a command reads; only where a person watches: on terminals, and not with `CI`. */
export function createProgressLine(watched: Watched = {}): ProgressLine {
  const { startedAt = 0, first = 'tree', env = process.env, stdout = process.stdout, stderr = process.stderr } = watched
  const isWatched = stdout.isTTY && stderr.isTTY && !env.CI && env.TERM !== 'dumb'
  if (!isWatched) return { report() {}, end() {} }
  let last: Waited = { stage: first, done: 0, total: null }
  let drawnAt: number | null = null

  function draw(): void {
    const now = performance.now()
    if (now - startedAt < QUIET_MS || (drawnAt !== null && now - drawnAt < REDRAWN_EVERY_MS)) return
    drawnAt = now
    const text = `${progressText(last)} (${formatTenths((now - startedAt) / 1000)} s)`
    stderr.write(`\r\u001B[K${text.slice(0, (stderr.columns || 80) - 1)}`)
  }

  // Some steps take long before they report.
  const timer = setInterval(draw, REDRAWN_EVERY_MS)
  return {
    report(progress) {
      // These commands store nothing: the last stage only shapes what was read.
      if (progress.stage !== 'write') last = progress
      draw()
    },
    end() {
      clearInterval(timer)
      if (drawnAt !== null) stderr.write('\r\u001B[K')
    },
  }
}
