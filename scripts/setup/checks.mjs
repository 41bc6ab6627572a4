/** The checks that need no run of the program. */
import { join } from 'node:path'
import { runQuietly, StepError, step } from './step.mjs'

const CHECKS = [
  {
    title: 'lint, format and dependency rule',
    program: '@biomejs/biome/bin/biome',
    args: ['check', '--error-on-warnings', '--diagnostic-level=warn'],
  },
  { title: 'types', program: 'ts7/bin/tsc', args: ['-p', 'tsconfig.json'] },
  { title: 'unused files, exports and packages', program: 'knip/bin/knip.js', args: [] },
  {
    title: 'types of the pages',
    program: 'astro/bin/astro.mjs',
    args: ['check', '--tsconfig', 'site/tsconfig.json', '--minimumSeverity', 'warning'],
  },
]

/**
 * Runs every check, also after one has failed, and shows what the failed ones said.
 *
 * @param {string} root the checkout
 * @param {string} node path of the Node they run on
 * @returns {Promise<string[]>} titles of those that failed
 */
export async function runChecks(root, node) {
  /** @param {typeof CHECKS[number]} check */
  const run = ({ program, args }) =>
    runQuietly(node, [join(root, 'node_modules', program), ...args], {
      cwd: root,
      env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
    })
  // This one keeps a single core busy for as long as the others take together.
  const [last] = CHECKS.slice(-1).map(run)
  last?.catch(() => {})
  const failed = []
  for (const [index, check] of CHECKS.entries()) {
    try {
      await step(check.title, () => (index === CHECKS.length - 1 && last ? last : run(check)))
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      process.stdout.write(`${error.message}\n`)
      failed.push(check.title)
    }
  }
  return failed
}
