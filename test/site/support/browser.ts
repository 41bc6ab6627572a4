import { type Browser, chromium } from 'playwright-core'
import { findBrowser } from '../../../scripts/setup/browser.mjs'

const executablePath = findBrowser()

/** False where there is no Chromium; `test/support/left-out.ts` says so. */
export const hasBrowser = executablePath !== null

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

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? '', args: [...CHROMIUM_FLAGS] })
}
