import { type Browser, chromium } from 'playwright-core'
import { findBrowser } from '../../../scripts/setup/browser.mjs'

const executablePath = findBrowser()

/** False where there is no Chromium; `test/support/left-out.ts` says so. */
export const hasBrowser = executablePath !== null

/** Chromium that reaches nothing but this machine. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  })
}
