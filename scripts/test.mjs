/**
 * `npm test`: all set-up, the checks, then every test. With arguments (`npm test -- test/unit/core/address.test.ts`) the checks are
 * left out and the arguments go to vitest. Runs on the Node of the machine, 20 or later, with no packages.
 */
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SERVERS } from './servers/servers.mjs'
import { isInstalled } from './servers/supervise.mjs'
import { BROWSER, findBrowser, hasBrowserTests } from './setup/browser.mjs'
import { runChecks } from './setup/checks.mjs'
import { prepare } from './setup/prepare.mjs'
import { runInForeground } from './setup/runtime.mjs'
import { StepError } from './setup/step.mjs'
import { prepareSystemPackages } from './setup/system-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)

try {
  process.exitCode = await test()
} catch (error) {
  if (!(error instanceof StepError)) throw error
  process.stderr.write(`mountglass: ${error.message}\n`)
  process.exitCode = 1
}

async function test() {
  const node = await prepare(root, { withDev: true })
  const isWhole = args.length === 0
  if (isWhole) await prepareSystemPackages([...((await hasBrowserTests(root)) ? [BROWSER] : []), ...servers()])
  const browser = findBrowser()
  const failed = isWhole ? await runChecks(root, node) : []
  const env = {
    ...process.env,
    ...(browser === null ? {} : { CHROMIUM_PATH: browser }),
    ...(isWhole ? { MOUNTGLASS_TEST_STORES: stores().join(',') } : {}),
    PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  }
  const code = await runInForeground(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], env)
  if (failed.length > 0) process.stderr.write(`failed before the tests: ${failed.join('; ')}\n`)
  return failed.length > 0 && code === 0 ? 1 : code
}

/** Those on which the suite of the API runs here: see `vitest.config.ts`. */
function stores() {
  if (!isInstalled(SERVERS.s3)) return ['disk']
  return ['disk', 's3', ...(isInstalled(SERVERS.postgres) ? ['fleet'] : [])]
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
