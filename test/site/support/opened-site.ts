import { afterEach } from 'vitest'
import { type Answers, readyMount } from './answers.ts'
import { openSite, type Site, type SiteSettings } from './site.ts'

/** The address whose pages the tests open. */
export const PAGE = '/local/acme/tools'
/** The page of its skill. */
export const SKILL = `${PAGE}?view=skill&path=skills/pdf/SKILL.md`

let site: Site | undefined
/** Hooks of a test file that uses this: what a test opened is closed after it. */
export function useOpenedSite(): void {
  afterEach(async () => {
    await site?.close()
    site = undefined
  })
}

/** The site, until the end of the test, over these answers; the mount is ready unless they say otherwise. */
export async function open(answers: Answers, settings?: SiteSettings): Promise<Site> {
  site = await openSite({ mounts: () => readyMount(), ...answers }, settings)
  return site
}
