import { performance } from 'node:perf_hooks'

export interface Spread {
  p50: number
  p95: number
  p99: number
}

/** Milliseconds of each of `count` calls, one after another. */
export async function spreadOf(count: number, call: (turn: number) => Promise<unknown>): Promise<Spread> {
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const startedAt = performance.now()
    await call(turn)
    times.push(performance.now() - startedAt)
  }
  return spread(times)
}

export function spread(times: readonly number[]): Spread {
  const sorted = [...times].sort((left, right) => left - right)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

export function median(values: readonly number[]): number {
  return spread(values).p50
}

/** A table with its columns aligned, numbers to the right. */
export function printTable(title: string, rows: readonly Record<string, string | number>[]): void {
  const columns = Object.keys(rows[0] ?? {})
  const cell = (value: string | number | undefined) => (typeof value === 'number' ? format(value) : (value ?? ''))
  const widths = columns.map(column => Math.max(column.length, ...rows.map(row => cell(row[column]).length)))
  const line = (cells: readonly (string | number | undefined)[]) =>
    cells
      .map((value, index) =>
        typeof value === 'string' ? cell(value).padEnd(widths[index] ?? 0) : cell(value).padStart(widths[index] ?? 0),
      )
      .join('  ')
  process.stdout.write(
    `\n${title}\n${columns.map((column, index) => (typeof rows[0]?.[column] === 'string' ? column.padEnd(widths[index] ?? 0) : column.padStart(widths[index] ?? 0))).join('  ')}\n`,
  )
  for (const row of rows) process.stdout.write(`${line(columns.map(column => row[column]))}\n`)
}

function format(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
