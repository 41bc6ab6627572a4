import type { Progress } from '../pipeline/progress.ts'

export interface ProgressPrinter {
  title(text: string): void
  report(progress: Progress): void
  /** Ends the line of the last stage. */
  end(): void
}

/** Prints one line per stage with count and rate: on a terminal rewritten in place, elsewhere once the stage has ended. */
export function createProgressPrinter(out: NodeJS.WriteStream): ProgressPrinter {
  let last: Progress | null = null
  let startedAt = 0

  function line(progress: Progress): string {
    const seconds = (performance.now() - startedAt) / 1000
    const total = progress.total === null ? '' : ` of ${progress.total}`
    const rate = progress.done > 0 && seconds > 0 ? `, ${Math.round(progress.done / seconds)}/s` : ''
    const count = progress.done > 0 ? ` ${progress.done}${total} ${UNITS[progress.stage]}${rate}` : ''
    return `${LABELS[progress.stage].padEnd(8)}${count} (${seconds.toFixed(1)} s)`
  }

  function end(): void {
    if (last) out.write(out.isTTY ? `\r\u001B[K${line(last)}\n` : `${line(last)}\n`)
    last = null
  }

  return {
    title: text => void out.write(`${text}\n`),
    report(progress) {
      if (last?.stage !== progress.stage) {
        end()
        startedAt = performance.now()
      }
      last = progress
      if (out.isTTY) out.write(`\r\u001B[K${line(progress)}`)
    },
    end,
  }
}

const LABELS = { tree: 'tree', policy: 'rules', content: 'content', write: 'write' } as const
const UNITS = { tree: 'entries', policy: 'files', content: 'files', write: 'tables' } as const
