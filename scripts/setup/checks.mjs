/** The checks that need no run of the program. */
import { join } from 'node:path'
import { runQuietly, StepError, step } from './step.mjs'

const CHECKS = [
  {
    title: 'lint, format and dependency rule',
    program: '@biomejs/biome/bin/biome',
    args: ['check', '--error-on-warnings', '--diagnostic-level=warn'],
  },
  // Several threads check the shared types several times: nearly twice the processors' time, beside the tests. What was checked before and has not
  // changed since is not checked again.
  {
    title: 'types',
    program: 'ts7/bin/tsc',
    args: [
      '-p',
      'tsconfig.json',
      '--singleThreaded',
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.cache/types.tsbuildinfo',
    ],
  },
  { title: 'unused files, exports and packages', program: 'knip/bin/knip.js', args: [] },
  {
    title: 'types of the pages',
    program: 'astro/bin/astro.mjs',
    args: ['check', '--tsconfig', 'site/tsconfig.json', '--minimumSeverity', 'warning'],
  },
]

/** The last one keeps a single core busy for as long as the others take together, so it begins with the first. */
const [SLOWEST] = CHECKS.slice(-1)

/**
 * Runs every check, also after one has failed, and shows what the failed ones said.
 *
 * @param {string} root the checkout
 * @param {string} node path of the Node they run on
 * @returns {Promise<string[]>} titles of those that failed
 */
export async function runChecks(root, node) {
  const failed = []
  for (const { title, done } of startChecks(root, node)) {
    try {
      await step(title, done)
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      process.stdout.write(`${error.message}\n`)
      failed.push(title)
    }
  }
  return failed
}

/**
 * Runs every check without a word.
 *
 * @param {string} root the checkout
 * @param {string} node path of the Node they run on
 * @returns {Promise<{ title: string, said: string }[]>} those that failed, with what they said
 */
export async function findFailedChecks(root, node) {
  const failed = []
  for (const { title, done } of startChecks(root, node)) {
    const said = await done().then(
      () => null,
      error => String(error.message),
    )
    if (said !== null) failed.push({ title, said })
  }
  return failed
}

/** @param {string} root @param {string} node @returns {{ title: string, done: () => Promise<string> }[]} to be awaited in this order */
function startChecks(root, node) {
  /** @param {typeof CHECKS[number]} check */
  const run = ({ program, args }) =>
    runQuietly(node, [join(root, 'node_modules', program), ...args], {
      cwd: root,
      env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
    })
  const slowest = SLOWEST && run(SLOWEST)
  slowest?.catch(() => {})
  return CHECKS.map(check => ({
    title: check.title,
    done: () => (check === SLOWEST && slowest ? slowest : run(check)),
  }))
}
