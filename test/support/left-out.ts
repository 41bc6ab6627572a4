import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SERVERS } from '../../scripts/servers/servers.mjs'
import { isInstalled } from '../../scripts/servers/supervise.mjs'
import { findBrowser, hasBrowserTests } from '../../scripts/setup/browser.mjs'
import { hasSmallDisks } from './small-disk.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Says before the run which tests find less than they could use, and why. They are left out, not failed, but where servers are required. */
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
  if (!hasSmallDisks()) process.stdout.write('left out: the test of a full disk, since this user may mount none\n')
  for (const [name, kind] of Object.entries(SERVERS)) {
    if (isInstalled(kind)) continue
    const lack = `tests with a real ${name} server; install the packages ${kind.packages.join(' ')}`
    if (process.env.MOUNTGLASS_TEST_SERVERS === 'required') throw new Error(`may not be left out: ${lack}`)
    process.stdout.write(`left out: ${lack}\n`)
  }
}
