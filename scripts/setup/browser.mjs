/** The browser of the tests that look at pages: the one of the system. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

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

/** @type {import('./system-packages.mjs').Wanted} */
export const BROWSER = {
  title: 'Chromium',
  packages: ['chromium'],
  isThere: () => findBrowser() !== null,
  advice: 'tests of the pages need Chromium: install it, for example the package "chromium", or set CHROMIUM_PATH',
}
