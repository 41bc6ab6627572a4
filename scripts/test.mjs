/**
 * `npm test`: set-up, then the checks beside the tests that say that nothing broke. `npm run test:all` (`--all`): every other test, and beside
 * them the first minutes in a fresh clone. With arguments (`npm test -- test/unit/core/address.test.ts`) only vitest runs, with the arguments,
 * and files of both tiers are found. Runs on the Node of the machine, 20 or later, with no packages.
 */
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SERVERS } from './servers/servers.mjs'
import { isInstalled } from './servers/supervise.mjs'
import { findFailedChecks } from './setup/checks.mjs'
import { prepare } from './setup/prepare.mjs'
import { runInForeground } from './setup/runtime.mjs'
import { runQuietly, StepError } from './setup/step.mjs'
import { BROWSER, findBrowser, IMAGE_TOOLS, PERL_CLIENT, prepareSystemPackages } from './setup/system-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const isAll = process.argv[2] === '--all'
const args = process.argv.slice(isAll ? 3 : 2)

try {
  process.exitCode = await test()
} catch (error) {
  if (!(error instanceof StepError)) throw error
  process.stderr.write(`mountglass: ${error.message}\n`)
  process.exitCode = 1
}

async function test() {
  const node = await prepare(root, { withDev: true })
  if (args.length > 0) return await runTests(node, {})
  return isAll ? await testAll(node) : await testFirst(node)
}

/** @param {string} node path of the Node that runs the tests */
async function testFirst(node) {
  await prepareSystemPackages([BROWSER])
  // Beside the tests, which often wait. What both print would mix.
  const checking = findFailedChecks(root, node)
  const code = await runTests(node, { MOUNTGLASS_TEST_TIER: 'test' })
  const failed = await checking
  for (const { title, said } of failed) process.stdout.write(`${title}: failed\n${said}\n`)
  if (failed.length > 0) process.stderr.write(`failed beside the tests: ${failed.map(({ title }) => title).join('; ')}\n`)
  return failed.length > 0 && code === 0 ? 1 : code
}

/** @param {string} node */
async function testAll(node) {
  await prepareSystemPackages([BROWSER, PERL_CLIENT, IMAGE_TOOLS, ...servers()])
  // Beside the tests, which often wait.
  const checking = checkFreshClone()
  const code = await runTests(node, { MOUNTGLASS_TEST_TIER: 'test:all' })
  const fresh = await checking
  process.stdout.write(`${fresh.said}\n`)
  if (fresh.failed) process.stderr.write('failed: the start in a fresh clone\n')
  return fresh.failed && code === 0 ? 1 : code
}

/** @returns {Promise<{ failed: boolean, said: string }>} */
function checkFreshClone() {
  return runQuietly(process.execPath, [join(root, 'scripts', 'check-fresh-clone.mjs')], { cwd: root }).then(
    said => ({ failed: false, said }),
    error => ({ failed: true, said: error.message }),
  )
}

/**
 * @param {string} node
 * @param {Record<string, string>} tier which tests run; nothing: those that the arguments name
 */
function runTests(node, tier) {
  const browser = findBrowser()
  return runInForeground(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], {
    ...process.env,
    ...(browser === null ? {} : { CHROMIUM_PATH: browser }),
    ...tier,
    PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  })
}

function servers() {
  return Object.entries(SERVERS).map(([name, kind]) => ({
    title: `a real ${name} server`,
    packages: kind.packages,
    isThere: () => isInstalled(kind),
    ...(kind.prepareInstall ? { prepare: kind.prepareInstall } : {}),
    advice: `tests with a real ${name} server need the packages ${kind.packages.join(' ')}`,
  }))
}
