/** The browser of the tests that look at pages: the one of the system. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first one has no windows, and takes half the processor time for the same pages. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** Path of a Chromium: `CHROMIUM_PATH` when set, else the first known name on the `PATH`; `null` when there is none. */
export function findBrowser(env = process.env) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH
  const folders = (env.PATH ?? '').split(delimiter)
  return NAMES.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path)) ?? null
}

/** @type {import('./system-packages.mjs').Wanted} */
export const BROWSER = {
  title: 'Chromium',
  packages: ['chromium-headless-shell'],
  isThere: () => findBrowser() !== null,
  advice: 'tests of the pages need Chromium: install it, for example the package "chromium-headless-shell", or set CHROMIUM_PATH',
}
