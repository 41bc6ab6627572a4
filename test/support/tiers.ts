/**
 * Which tests `npm test` runs, and which `npm run test:all` runs.
 *
 * A test file chooses its tier by its name: `<what>.test.ts` belongs to `npm test`, `<what>.all.test.ts` to `npm run test:all`.
 * Some files of `npm test` run in `npm run test:all` too, each time in another configuration that the environment of the run
 * spells: the API over other stores, properties with more runs. See decision 0020.
 */

/** One configuration of the tests: a project of vitest. */
export interface TestRun {
  name: string
  include: string[]
  exclude?: string[]
  env: Record<string, string>
}

export type Tier = 'test' | 'test:all'

const TESTS = 'test/**/*.test.ts'
const TESTS_OF_ALL = 'test/**/*.all.test.ts'

/** Files whose tests pass through the stores: one for each endpoint, and those that write state entries. */
const API_OVER_STORES = [
  'account',
  'browse',
  'files',
  'find',
  'hidden-notes',
  'hooks',
  'hooks-refused',
  'mounts',
  'operator-content',
  'own-pages',
  'owners-indexed',
  'private-local',
  'private-reading',
  'private-unseen',
  'raw-file',
  'reuse-withheld',
  'sign-in',
  'skills',
  'tokens',
]
  .map(name => `test/api/${name}.test.ts`)
  .concat('test/mcp/private.test.ts', 'test/site/every-route.test.ts')

/** The properties whose number of runs depends on the tier: see `runs.ts`. */
const PROPERTIES = 'test/properties/**/*.test.ts'

/** The configuration of the second tier that runs each of its own files once. */
export const OWN_OF_ALL = 'test:all'

const MEMORY = { MOUNTGLASS_TEST_STORES: 'memory' }

export const TIERS: Readonly<Record<Tier, readonly TestRun[]>> = {
  test: [{ name: 'test', include: [TESTS], exclude: [TESTS_OF_ALL], env: MEMORY }],
  'test:all': [
    { name: 'test:all', include: [TESTS_OF_ALL], env: {} },
    {
      name: 'every property',
      include: [PROPERTIES],
      exclude: [TESTS_OF_ALL],
      env: { MOUNTGLASS_TEST_RUNS: 'all' },
    },
    ...['disk', 's3', 'fleet'].map(stores => ({
      name: `api on ${stores}`,
      include: API_OVER_STORES,
      env: { MOUNTGLASS_TEST_STORES: stores },
    })),
  ],
}

/**
 * Files that take longest, in their order. Where nothing is known of an earlier run, vitest begins with the largest files, and some of the
 * longest are small: begun last, they run alone.
 */
export const LONGEST: readonly string[] = [
  'test/e2e/fleet.all.test.ts',
  'test/site/accessibility.all.test.ts',
  'test/corpus/repositories.all.test.ts',
  'test/corpus/changes.all.test.ts',
  'test/unit/regular-expressions.all.test.ts',
  'test/site/handbook.all.test.ts',
  'test/contract/replicas.all.test.ts',
  'test/e2e/s3.all.test.ts',
  'test/site/hostile-browser.all.test.ts',
  'test/e2e/work.all.test.ts',
  'test/contract/crash.all.test.ts',
  'test/indexer/job-processes.all.test.ts',
  'test/e2e/serve.all.test.ts',
  'test/site/people-browser.all.test.ts',
  'test/eval/targets.all.test.ts',
  'test/properties/changes.all.test.ts',
  'test/contract/job-queue.all.test.ts',
  'test/e2e/work-stop.all.test.ts',
  'test/traps/repair.all.test.ts',
  'test/api/github-hidden.all.test.ts',
  'test/site/accessibility.test.ts',
  'test/site/handbook.test.ts',
  'test/mcp/stdio.test.ts',
  'test/mcp/conformance.test.ts',
  'test/site/browser.test.ts',
  'test/api/github-requests.test.ts',
  'test/traps/repair.test.ts',
]

/**
 * The runs of the tier in `MOUNTGLASS_TEST_TIER`. Without one, every test file once, in its own tier, so that a single file is
 * found by its path; then a setting of the environment wins over that of the run, as in `MOUNTGLASS_TEST_STORES=s3 vitest run test/api`.
 *
 * @throws Error when there is no tier of that name
 */
export function chosenRuns(env: NodeJS.ProcessEnv): readonly TestRun[] {
  const tier = env.MOUNTGLASS_TEST_TIER
  if (tier !== undefined) {
    if (tier in TIERS) return TIERS[tier as Tier]
    throw new Error(`MOUNTGLASS_TEST_TIER: ${tier} is no tier; the tiers are ${Object.keys(TIERS).join(' and ')}`)
  }
  const once = [...TIERS.test, ...TIERS['test:all'].filter(({ name }) => name === OWN_OF_ALL)]
  return once.map(own => ({ ...own, env: withoutGiven(own.env, env) }))
}

/**
 * How many processes run the tests. They often wait for the git, servers and indexers that they start: three keep two processors busy, and
 * four in the second tier, where they wait more.
 */
export function workersOf(env: NodeJS.ProcessEnv): number {
  return env.MOUNTGLASS_TEST_TIER === 'test:all' ? 4 : 3
}

function withoutGiven(own: TestRun['env'], given: NodeJS.ProcessEnv): TestRun['env'] {
  return Object.fromEntries(Object.entries(own).filter(([name]) => given[name] === undefined))
}
