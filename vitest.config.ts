import { defineConfig } from 'vitest/config'
import { keepCompiledSources } from './scripts/setup/runtime.mjs'
import { LongestFirst } from './test/support/longest-first.ts'
import { keepTemporaryFilesInMemory } from './test/support/temporary-files.ts'
import { chosenRuns, workersOf } from './test/support/tiers.ts'

// Programs that a test starts by themselves begin as fast as the command does.
keepCompiledSources(import.meta.dirname)
keepTemporaryFilesInMemory()
// Workers start thousands of programs, and each start copies the page tables of a worker. With huge pages there are fewer: a tenth of the time.
process.env.GLIBC_TUNABLES ??= 'glibc.malloc.hugetlb=1'

export default defineConfig({
  test: {
    setupFiles: ['test/support/fixed-seed.ts'],
    globalSetup: ['test/support/left-out.ts', 'test/support/servers/global-setup.ts'],
    reporters: ['default', './test/support/slowest-files.ts'],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Files share loaded modules, which spares a third of the processors' time. So a module that several files use has no hooks of its own, and
    // a test that changes the environment or a global restores it.
    isolate: false,
    // What test files import is run by Node itself, with its cache of compiled sources. Vite would transform it and each worker compile it: a tenth of
    // the processor time. Vite's are the test files, whose lines it shows when a test fails, and data.
    server: { deps: { external: [/^(?!.*\.(test\.ts|json)$)/] } },
    // Tests make much that lives shortly. In a larger nursery most of it is gone before it is collected: a tenth of the processor time.
    execArgv: ['--max-semi-space-size=64'],
    maxWorkers: workersOf(process.env),
    // For what hangs. No test depends on the speed of the machine, and some machines are slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    projects: chosenRuns(process.env).map(run => ({ extends: true as const, test: { ...run } })),
  },
})
