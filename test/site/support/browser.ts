import { type Browser, chromium } from 'playwright-core'
import { findBrowser } from '../../../scripts/setup/system-packages.mjs'

const executablePath = findBrowser()

/** False where there is no Chromium; `test/support/left-out.ts` says so. */
export const hasBrowser = executablePath !== null

/** As patient as the tests: a page on a busy machine is slow, and only what hangs may fail. */
const PATIENCE_MS = 180_000

/** With these, Chromium asks nothing of the network but this machine. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: executablePath ?? '', args: [...CHROMIUM_FLAGS], timeout: PATIENCE_MS })
  browser.on('context', context => context.setDefaultTimeout(PATIENCE_MS))
  return browser
}
