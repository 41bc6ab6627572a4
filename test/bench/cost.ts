import { median } from './measure.ts'

/** What some work takes: of the clock, and of all threads of the process. */
export interface Cost {
  seconds: number
  processorSeconds: number
}

export interface Run<Value> extends Cost {
  value: Value
}

/** Of one kind, one behind the other: what each leaves behind in memory, the next of its kind clears away. */
export async function repeat<Value>(turns: number, work: () => Promise<Value>): Promise<Run<Value>[]> {
  const runs: Run<Value>[] = []
  for (let turn = 0; turn < turns; turn++) runs.push(await timed(work))
  return runs
}

export function costOf(runs: readonly Cost[]): Cost {
  return {
    seconds: median(runs.map(({ seconds }) => seconds)),
    processorSeconds: median(runs.map(({ processorSeconds }) => processorSeconds)),
  }
}

export async function timed<Value>(work: () => Promise<Value>): Promise<Run<Value>> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  const value = await work()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(before)
  return { value, seconds, processorSeconds: (user + system) / 1e6 }
}
