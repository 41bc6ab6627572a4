import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const ROWS = 20

/** A run of fewer files needs no table. */
const FEW_FILES = 10

/** Prints which test files took longest, after a run of many. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length >= FEW_FILES) process.stdout.write(`\n${tableOf(modules.map(measured))}\n`)
  }
}

interface Measured {
  file: string
  run: string
  tests: number
  /** Imports, hooks and tests; the first file of a process loads what the others share. */
  milliseconds: number
}

function measured(module: TestModule): Measured {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  return {
    file: relative(process.cwd(), module.moduleId),
    run: module.project.name,
    tests: [...module.children.allTests()].length,
    milliseconds: environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration,
  }
}

export function tableOf(files: readonly Measured[]): string {
  const slowest = files.toSorted((left, right) => right.milliseconds - left.milliseconds).slice(0, ROWS)
  const seconds = (all: readonly Measured[]) => all.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000
  const rows = slowest.map(one => {
    return `${seconds([one]).toFixed(1).padStart(9)}  ${String(one.tests).padStart(5)}  ${one.run.padEnd(14)}  ${one.file}`
  })
  return [
    `The slowest of ${files.length} test files, which took ${seconds(files).toFixed(0)} s of the workers' time:`,
    '',
    `  seconds  tests  ${'run'.padEnd(14)}  file`,
    ...rows,
  ].join('\n')
}
