import { WORDS } from '#core/words/commands.ts'
import { fill } from '#core/words/fill.ts'
import { formatTenths } from '#core/words/numbers.ts'
import type { Progress } from '#indexer/pipeline/progress.ts'

export interface ProgressPrinter {
  title(text: string): void
  report(progress: Progress): void
  /** Ends the line of the last stage. */
  end(): void
}

/** Prints one line per stage with count and rate: on a terminal rewritten in place, elsewhere once the stage has ended. */
export function createProgressPrinter(out: NodeJS.WriteStream): ProgressPrinter {
  const { stages, done: counted } = WORDS.index
  let last: Progress | null = null
  let startedAt = 0

  function line(progress: Progress): string {
    const { stage, done, total } = progress
    const seconds = (performance.now() - startedAt) / 1000
    const rate = done > 0 && seconds > 0 ? `, ${Math.round(done / seconds)}/s` : ''
    const { some, ofAll } = counted[stage]
    const count = total === null ? fill(some, { done }) : fill(ofAll, { done, total })
    return `${stages[stage].padEnd(8)}${done > 0 ? ` ${count}${rate}` : ''} (${formatTenths(seconds)} s)`
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
