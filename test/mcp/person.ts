import { decideAt } from '#test/support/signed-in.ts'
import { hasBrowser, openBrowser } from '../site/support/browser.ts'

/** A person whom apps send to the service. */
export interface Person {
  /** @param location where the app sends the browser. @returns where the service sent it back to, and where it went if somebody listens there */
  decide(location: URL, approve?: boolean): Promise<URL>
  close(): Promise<void>
}

/**
 * A person at a browser, who signs in where they are asked to, and decides on the page of consent. Without a browser, requests play them.
 *
 * @param signIn signs in by requests, and has the host know the person from then on. @returns the header `cookie`
 */
export async function openPerson(baseUrl: string, signIn: () => Promise<string>): Promise<Person> {
  const cookie = await signIn()
  if (!hasBrowser)
    return { decide: (location, approve) => decideByRequests(baseUrl, cookie, location, approve), close: async () => {} }
  const browser = await openBrowser()
  const context = await browser.newContext({ locale: 'en' })
  return {
    async decide(location, approve = true) {
      const page = await context.newPage()
      const redirect = location.searchParams.get('redirect_uri') ?? ''
      await page.goto(location.href)
      const toSignIn = page.getByRole('link', { name: 'Sign in to decide' })
      if ((await toSignIn.count()) > 0) await toSignIn.click()
      const back = page.waitForRequest(request => request.isNavigationRequest() && request.url().startsWith(redirect))
      await page.getByRole('button', { name: approve ? 'Approve' : 'Refuse' }).click()
      const sent = await back
      await sent.response()
      await page.close()
      return new URL(sent.url())
    },
    close: () => browser.close(),
  }
}

async function decideByRequests(baseUrl: string, cookie: string, location: URL, approve?: boolean): Promise<URL> {
  const back = await decideAt(baseUrl, cookie, location, approve)
  await fetch(back).catch(() => {})
  return back
}
