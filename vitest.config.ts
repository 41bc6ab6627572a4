import { defineConfig } from 'vitest/config'
import { keepCompiledSources } from './scripts/setup/runtime.mjs'

const ALL = 'test/**/*.test.ts'
const API = 'test/api/**/*.test.ts'

// Programs that a test starts by themselves begin as fast as the command does.
keepCompiledSources(import.meta.dirname)

export default defineConfig({
  test: {
    globalSetup: ['test/support/left-out.ts', 'test/support/servers/global-setup.ts'],
    // Tests start git, servers and indexers of their own, so more workers than this only make them wait for each other.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    ...runsOnStores(process.env.MOUNTGLASS_TEST_STORES?.split(',') ?? []),
  },
})

/** Which stores the service of a test has: in memory unless said otherwise. Of several, each has a run of the API's suite. */
function runsOnStores(names: string[]) {
  // What a project includes is added to what all include, so nothing is said for all.
  if (names.length < 2) return { include: [ALL] }
  const others = { name: 'others', include: [ALL], exclude: [API], env: { MOUNTGLASS_TEST_STORES: 'memory' } }
  const api = names.map(name => ({ name: `api on ${name}`, include: [API], env: { MOUNTGLASS_TEST_STORES: name } }))
  return { projects: [others, ...api].map(test => ({ extends: true as const, test })) }
}
