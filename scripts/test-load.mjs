/**
 * `npm run test:load -- 5`: runs both tiers of the tests again and again (5 times; once when left out) while as many loops as the machine has
 * processors keep them busy, and prints which runs failed. After the number stand a tier, and arguments for vitest: `-- 5 test`,
 * `-- 20 test:all test/contract/crash.all.test.ts`. Ends with 1 when a run failed.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode, runInForeground } from './setup/runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const TIERS = ['test', 'test:all']
const [times = '1', ...rest] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(times)) {
  process.stderr.write(
    `usage: npm run test:load -- <times> [test|test:all] [arguments for vitest]; ${times} is not a number of times\n`,
  )
  process.exit(1)
}
const tiers = TIERS.includes(rest[0] ?? '') ? [rest.shift() ?? ''] : TIERS

const loops = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
const endLoops = () => {
  for (const loop of loops) loop.kill('SIGKILL')
}
process.once('exit', endLoops)
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1))
process.exitCode = await runAll(Number(times))
endLoops()

/** @param {number} runs */
async function runAll(runs) {
  /** @type {string[]} */
  const lines = []
  let failures = 0
  for (let run = 1; run <= runs; run++) {
    for (const tier of tiers) {
      const startedAt = performance.now()
      const code = await runTier(tier)
      if (code !== 0) failures++
      lines.push(
        `run ${run} of ${tier}: ${code === 0 ? 'passed' : 'FAILED'}, ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
      )
    }
  }
  process.stdout.write(`\nwith ${loops.length} loops beside:\n${lines.join('\n')}\nfailed: ${failures} of ${lines.length}\n`)
  return failures === 0 ? 0 : 1
}

/** @param {string} tier */
function runTier(tier) {
  return runInForeground(
    findNode(root) ?? process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--reporter=dot', ...rest],
    {
      ...process.env,
      MOUNTGLASS_TEST_TIER: tier,
    },
  )
}
