import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findBrowser, hasBrowserTests } from '../../scripts/setup/browser.mjs'

const ROOT = join(import.meta.dirname, '..', '..')

/** Says before the run which tests find less than they could use, and why. They are left out, not failed. */
export default async function sayWhatIsLeftOut(): Promise<void> {
  if (!existsSync(join(ROOT, '..', 'shared'))) {
    process.stdout.write('left out: tests on real repositories, since there is no folder ../shared with them\n')
  }
  if (!existsSync(join(ROOT, '..', 'shared', 'search'))) {
    process.stdout.write('left out: the targets of the search, since there is no folder ../shared/search with questions\n')
  }
  if (findBrowser() === null && (await hasBrowserTests(ROOT))) {
    process.stdout.write('left out: tests that look at pages, since there is no Chromium; install it or set CHROMIUM_PATH\n')
  }
}
