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
  {
    title: 'types of the pages',
    program: 'astro/bin/astro.mjs',
    args: ['check', '--tsconfig', 'site/tsconfig.json', '--minimumSeverity', 'warning'],
  },
  { title: 'unused files, exports and packages', program: 'knip/bin/knip.js', args: [] },
]

/**
 * Runs every check, also after one has failed, and shows what the failed ones said.
 *
 * @param {string} root the checkout
 * @param {string} node path of the Node they run on
 * @returns {Promise<string[]>} titles of those that failed
 */
export async function runChecks(root, node) {
  const failed = []
  for (const { title, program, args } of CHECKS) {
    try {
      await step(title, () =>
        runQuietly(node, [join(root, 'node_modules', program), ...args], {
          cwd: root,
          env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
        }),
      )
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      process.stdout.write(`${error.message}\n`)
      failed.push(title)
    }
  }
  return failed
}
