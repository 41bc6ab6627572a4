import type { Progress } from '#indexer/pipeline/progress.ts'
import { formatTenths, t } from '#words/t.ts'

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

  const line = (progress: Progress) => lineOf(progress, (performance.now() - startedAt) / 1000)

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

function lineOf({ stage, done, total }: Progress, seconds: number): string {
  const rate = done > 0 && seconds > 0 ? `, ${Math.round(done / seconds)}/s` : ''
  return `${t(`index.stages.${stage}`).padEnd(8)}${done > 0 ? ` ${countOf({ stage, done, total })}${rate}` : ''} (${formatTenths(seconds)} s)`
}

function countOf({ stage, done, total }: Progress): string {
  return total === null ? t(`index.done.${stage}.some`, { done }) : t(`index.done.${stage}.ofAll`, { done, total })
}

/** A line of a terminal that tells what is being waited for, and goes when the wait ends. */
export interface StatusLine {
  report(progress: Progress): void
  end(): void
}

/** A shorter wait shows no line. */
const SHOWN_AFTER_MS = 500
const DRAWN_EVERY_MS = 100

/** @param title what is read */
export function createStatusLine(out: NodeJS.WriteStream, title: string): StatusLine {
  const startedAt = performance.now()
  let progress: Progress | null = null
  let isShown = false
  const draw = () => {
    const milliseconds = performance.now() - startedAt
    if (milliseconds < SHOWN_AFTER_MS) return
    isShown = true
    const doing = progress === null || progress.done === 0 ? t('index.stages.open') : countOf(progress)
    const line = t('reader.status', { title, doing, seconds: formatTenths(milliseconds / 1000) })
    out.write(`\r\u001B[K${[...line].slice(0, Math.max(1, (out.columns || 80) - 1)).join('')}`)
  }
  const timer = setInterval(draw, DRAWN_EVERY_MS)
  timer.unref()
  return {
    report(next) {
      progress = next
    },
    end() {
      clearInterval(timer)
      if (isShown) out.write('\r\u001B[K')
    },
  }
}
