import type { FastifyInstance } from 'fastify'
import { type Answer, checkAnswer } from './check-answer.ts'
import type { Account, App, Installation, Repository } from './fake-github/world.ts'
import { BASE_URL, type TestApp, type TestAppOptions, testApp } from './test-app.ts'

/** A deployment where people sign in. `ada` is the only member of the organization `acme`; `bob` is a stranger. */
export interface PeopleScene extends TestApp {
  ada: Account
  bob: Account
  acme: Account
  githubApp: App
  /** Of the app at `acme`, for all repositories. */
  installation: Installation
  /** `acme/closed`, which is private; `acme/tools` is public. */
  closed: Repository
  /** A browser that has signed in. Its cookies are its own. */
  signIn(user: Account, at?: FastifyInstance): Promise<Browser>
  /** A browser that carries nothing yet. */
  browser(at?: FastifyInstance): Browser
}

/** A browser as far as the service sees one: cookies, and what it says of where a request comes from. */
export interface Browser {
  /** By name. */
  cookies: Map<string, string>
  /** A page of the deployment asks. */
  get(url: string, headers?: Record<string, string>): Promise<Answer>
  post(url: string, body: unknown, headers?: Record<string, string | undefined>): Promise<Answer>
  delete(url: string, headers?: Record<string, string | undefined>): Promise<Answer>
  /** Sends a form of a page of the deployment. */
  submit(url: string, fields: Record<string, string>, headers?: Record<string, string | undefined>): Promise<Answer>
  /** Follows a link of the deployment. */
  navigate(url: string): Promise<Answer>
  /** Signs in, and returns where it ends. */
  signIn(user: Account | null, returnTo?: string): Promise<Answer>
  /** The page of the host, which sends the browser back. @param location as `/auth/sign-in` answers it. @returns path and query */
  visitHost(location: string, user: Account | null): Promise<string>
  /** The same cookies at another process. */
  at(app: FastifyInstance): Browser
}

export const SESSION_COOKIE = '__Host-session'
export const SIGN_IN_COOKIE = '__Host-signin'

export interface PeopleSceneOptions extends Omit<TestAppOptions, 'github'> {
  /** Repositories besides those of the scene, or in place of them. */
  contents?: Parameters<typeof testApp>[0]
}

export async function openPeopleScene({ contents, ...options }: PeopleSceneOptions = {}): Promise<PeopleScene> {
  const baseUrl = options.baseUrl ?? BASE_URL
  const scene = await testApp(
    { 'acme/tools': { 'a.md': '# A\n' }, 'acme/closed': { 'secret.md': '# Secret\n' }, ...contents },
    {
      ...options,
      github: {
        withToken: true,
        app: github => github.app('reader', { owner: github.user('maker'), callbackUrls: [`${baseUrl}/auth/callback`] }),
      },
    },
  )
  const { github } = scene
  const [ada, bob] = [github.user('ada', { name: 'Ada' }), github.user('bob')]
  const acme = github.organization('acme', { members: new Map([[ada, 'member']]) })
  const closed = await github.shown('acme', 'closed', { visibility: 'private' })
  const [githubApp] = [...github.world.apps]
  if (!githubApp) throw new Error('there is no app')
  const installation = github.install(githubApp, acme)

  const browser = (at: FastifyInstance = scene.app) => openBrowser(at, scene, baseUrl)
  return {
    ...scene,
    get github() {
      return scene.github
    },
    ada,
    bob,
    acme,
    githubApp,
    installation,
    closed,
    browser,
    async signIn(user, at) {
      const opened = browser(at)
      const answer = await opened.signIn(user)
      if (answer.status !== 303) throw new Error(`the sign-in answered ${answer.status} ${answer.body}`)
      return opened
    },
  }
}

function openBrowser(app: FastifyInstance, scene: TestApp, baseUrl: string, cookies = new Map<string, string>()): Browser {
  async function send(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    given: Record<string, string | undefined>,
    payload?: string,
  ): Promise<Answer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const all = { ...(cookie === '' ? {} : { cookie }), ...given }
    const headers = Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined))
    const answer = await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) keepCookie(cookies, line)
    return checkAnswer(url, method, {
      status: answer.statusCode,
      headers: answer.headers as Answer['headers'],
      body: answer.body,
    })
  }
  const own = { 'sec-fetch-site': 'same-origin', origin: baseUrl }
  const navigation = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }

  async function visitHost(location: string, user: Account | null): Promise<string> {
    scene.github.world.browser = user === null ? { user: scene.github.user('nobody'), approves: false } : { user, approves: true }
    const back = await fetch(location, { redirect: 'manual' })
    const url = new URL(back.headers.get('location') ?? '')
    return url.pathname + url.search
  }

  return {
    cookies,
    get: (url, headers) => send('GET', url, { 'sec-fetch-site': 'same-origin', ...headers }),
    post: (url, body, headers) =>
      send(
        'POST',
        url,
        { ...own, 'content-type': 'application/json', ...headers },
        typeof body === 'string' ? body : JSON.stringify(body),
      ),
    delete: (url, headers) => send('DELETE', url, { ...own, ...headers }),
    submit: (url, fields, headers) =>
      send(
        'POST',
        url,
        { ...own, 'content-type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(fields).toString(),
      ),
    navigate: url => send('GET', url, navigation),
    visitHost,
    async signIn(user, returnTo) {
      const query = returnTo === undefined ? '' : `?return=${encodeURIComponent(returnTo)}`
      const begun = await send('GET', `/auth/sign-in${query}`, navigation)
      return await send('GET', await visitHost(begun.headers.location ?? '', user), navigation)
    },
    at: other => openBrowser(other, scene, baseUrl, cookies),
  }
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';')
  const name = pair.slice(0, pair.indexOf('='))
  if (/;\s*max-age=0\b/i.test(line)) cookies.delete(name)
  else cookies.set(name, pair.slice(pair.indexOf('=') + 1))
}
