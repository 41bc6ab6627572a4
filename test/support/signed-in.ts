import { type FakeGitHub, startFakeGitHub } from './fake-github/server.ts'
import type { Account, App } from './fake-github/world.ts'
import { createRepositories } from './repository.ts'

/** The settings by which a service uses the stand-in, with an App with which people sign in. */
export function appSettings(github: FakeGitHub, app: App): Record<string, string> {
  return {
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_GITHUB_APP_ID: String(app.id),
    MOUNTGLASS_GITHUB_APP_SLUG: app.slug,
    MOUNTGLASS_GITHUB_APP_CLIENT_ID: app.clientId,
    MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: app.clientSecret,
    MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: app.privateKey.replaceAll('\n', '\\n'),
  }
}

/** Signs somebody in at a running service, by its routes and the page of the host. @returns the header `cookie` */
export async function signInAt(baseUrl: string, github: FakeGitHub, app: App, user: Account): Promise<string> {
  const callback = `${baseUrl}/auth/callback`
  if (!app.callbackUrls.includes(callback)) app.callbackUrls.push(callback)
  github.world.browser = { user, approves: true }
  const begun = await fetch(`${baseUrl}/auth/sign-in`, { redirect: 'manual' })
  const atHost = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })
  const ended = await fetch(atHost.headers.get('location') ?? '', {
    redirect: 'manual',
    headers: { cookie: cookiesOf(begun), 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  })
  if (ended.status !== 303) throw new Error(`the sign-in answered ${ended.status} ${await ended.text()}`)
  return cookiesOf(ended)
}

/** Makes an agent token, as a page of the service does. */
export async function makeToken(baseUrl: string, cookie: string, address: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/v1/me/tokens`, {
    method: 'POST',
    headers: { cookie, origin: baseUrl, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({ address, label: 'agent', expiresInDays: 1 }),
  })
  if (answer.status !== 201) throw new Error(`the token answered ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { token: string }).token
}

/**
 * What a person does whom an app sent to the service: the page of consent shows the request, and the decision sends the browser back.
 *
 * @param location where the app sends the browser
 * @returns where the service sends it back to
 */
export async function decideAt(baseUrl: string, cookie: string, location: URL, approve = true): Promise<URL> {
  const asked = await fetch(location, { redirect: 'manual', headers: { cookie } })
  const page = new URL(asked.headers.get('location') ?? '', baseUrl)
  const request = page.searchParams.get('request')
  if (request === null) throw new Error(`the app was answered ${asked.status} ${page.search} ${await asked.text()}`)
  const answer = await fetch(`${baseUrl}/api/v1/oauth/decision`, {
    method: 'POST',
    headers: { cookie, origin: baseUrl, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({ request, approve }),
  })
  if (answer.status !== 200) throw new Error(`the decision answered ${answer.status} ${await answer.text()}`)
  return new URL(((await answer.json()) as { redirect: string }).redirect)
}

function cookiesOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map(line => line.split(';', 1)[0] ?? '')
    .filter(pair => !pair.endsWith('='))
    .join('; ')
}

/** A stand-in of GitHub with one private repository and a person who may read it, for services that run as processes. */
export interface SignInScene {
  /** Of the repository. */
  address: string
  /** Of a service that uses the stand-in. */
  settings: Record<string, string>
  /** @returns the header `cookie` */
  signIn(baseUrl: string): Promise<string>
  close(): Promise<void>
}

export async function openSignInScene(): Promise<SignInScene> {
  const repositories = await createRepositories()
  await (await repositories.create('acme', 'closed')).commit({ 'SKILL.md': SKILL })
  const github = await startFakeGitHub({ root: repositories.root })
  const ada = github.user('ada')
  const app = github.app('reader', { owner: github.user('maker') })
  github.install(app, github.organization('acme', { members: new Map([[ada, 'member']]) }))
  await github.shown('acme', 'closed', { visibility: 'private' })
  return {
    address: '/gh/acme/closed',
    settings: appSettings(github, app),
    signIn: baseUrl => signInAt(baseUrl, github, app, ada),
    async close() {
      await github.close()
      await repositories.remove()
    },
  }
}

const SKILL = '---\nname: pdf\ndescription: Fills forms\n---\n\nFill the form.\n'
