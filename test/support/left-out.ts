import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { SERVERS } from '../../scripts/servers/servers.mjs'
import { isInstalled } from '../../scripts/servers/supervise.mjs'
import { findBrowser, hasImageTools, hasPerlClient, IMAGE_TOOLS, PERL_CLIENT } from '../../scripts/setup/system-packages.mjs'
import { hasSmallDisks } from './small-disk.ts'
import { TIERS } from './tiers.ts'

const SHARED = join(import.meta.dirname, '..', '..', '..', 'shared')

interface Need {
  tests: string
  isThere(): boolean
  advice: string
  /** May be absent in CI too: not every CI may provide it. */
  isOptional?: boolean
}

/** What tests of both tiers use. */
const OF_BOTH: readonly Need[] = [
  {
    tests: 'tests of pages in a browser',
    isThere: () => findBrowser() !== null,
    advice: 'install Chromium or set CHROMIUM_PATH',
  },
]

/** What tests of `npm run test:all` use besides. */
const OF_ALL: readonly Need[] = [
  {
    tests: 'tests on real repositories',
    isThere: () => ['CORPUS.json', join('_licenses', 'labelled.json')].every(name => existsSync(join(SHARED, 'corpus', name))),
    advice: 'they read the folder ../shared/corpus',
  },
  {
    tests: 'the targets of the search',
    isThere: () => existsSync(join(SHARED, 'search')) && readdirSync(join(SHARED, 'search')).some(name => name.endsWith('.json')),
    advice: 'they read the folder ../shared/search',
  },
  ...Object.entries(SERVERS).map(([name, kind]) => ({
    tests: `tests with a real ${name} server`,
    isThere: () => isInstalled(kind),
    advice: `install the packages ${kind.packages.join(' ')}`,
  })),
  { tests: 'the test of the image', isThere: hasImageTools, advice: IMAGE_TOOLS.advice },
  { tests: 'the test of a client in Perl', isThere: hasPerlClient, advice: PERL_CLIENT.advice },
  { tests: 'the test of a full disk', isThere: hasSmallDisks, advice: 'this user may not mount a disk', isOptional: true },
]

/**
 * Says before the run which tests are left out and what they need.
 *
 * @throws Error in CI (`CI` is set), where no test may be left out
 */
export default function sayWhatIsLeftOut({ vitest }: TestProject): void {
  const runs = new Set(vitest.projects.map(({ name }) => name))
  const isAll = TIERS['test:all'].some(({ name }) => runs.has(name))
  const missing = [...OF_BOTH, ...(isAll ? OF_ALL : [])].filter(need => !need.isThere())
  for (const { tests, advice } of missing) process.stdout.write(`left out: ${tests}; ${advice}\n`)
  const required = missing.filter(({ isOptional }) => !isOptional)
  if (isCi() && required.length > 0) {
    throw new Error(`in CI no test may be left out: ${required.map(({ tests, advice }) => `${tests} (${advice})`).join('; ')}`)
  }
}

function isCi(): boolean {
  return !['', '0', 'false', undefined].includes(process.env.CI)
}
