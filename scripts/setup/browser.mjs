/** The browser of the tests that look at pages: the one of the system, installed where that is possible. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { runQuietly, StepError, step } from './step.mjs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Path of a Chromium: `CHROMIUM_PATH` when set, else the first known name on the `PATH`; `null` when there is none. */
export function findBrowser(env = process.env) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH
  const folders = (env.PATH ?? '').split(delimiter)
  return NAMES.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path)) ?? null
}

/**
 * Whether any test drives a browser; without one nothing is installed.
 *
 * @param {string} root the checkout
 */
export async function hasBrowserTests(root) {
  const entries = await readdir(join(root, 'test'), { recursive: true })
  const sources = entries.filter(path => path.endsWith('.ts')).map(path => readFile(join(root, 'test', path), 'utf8'))
  return (await Promise.all(sources)).some(text => /\bfrom 'playwright-core'|import\('playwright-core'\)/.test(text))
}

/**
 * Finds the browser, or installs Debian's package when this user may.
 *
 * @returns {Promise<string | null>} its path; `null` where it has to be installed by hand, which is then said
 */
export async function prepareBrowser() {
  const found = findBrowser()
  if (found !== null) return found
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    try {
      await step('installing Chromium for the tests', async () => {
        await runQuietly('apt-get', ['update', '-qq'], { env })
        await runQuietly('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env })
      })
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      process.stdout.write(`${error.message}\n`)
    }
  }
  const installed = findBrowser()
  if (installed === null) {
    process.stdout.write(
      'tests of the pages need Chromium: install it, for example the package "chromium", or set CHROMIUM_PATH\n',
    )
  }
  return installed
}
