import { createSign } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerAvatar } from './avatars.ts'
import type { Scene } from './bodies.ts'
import { createClock, type FakeClock } from './clock.ts'
import { createWorld } from './create-world.ts'
import {
  type Credential,
  issueFineGrainedToken,
  issueInstallationToken,
  issuePersonalToken,
  issueUserTokens,
  readCredential,
  type UserTokens,
} from './credentials.ts'
import { createFaults, type Fault, type Faults, faultAnswer } from './faults.ts'
import { answerPage, answerRaw } from './files.ts'
import { answerGit, describeGit, matchGitRoute } from './git-http.ts'
import { type FakeAnswer, type FakeRequest, readRequest, sendAnswer, textAnswer } from './http.ts'
import { HOST_NAMES, type HostName, type Origins } from './kinds.ts'
import { createLimits, type Limits } from './limits.ts'
import { createLog, type RequestLog, type RequestRecord } from './log.ts'
import { answerOauth } from './oauth.ts'
import { createApi } from './rest/api.ts'
import type {
  Account,
  AccountOptions,
  App,
  AppOptions,
  Installation,
  InstallationOptions,
  Repository,
  RepositoryOptions,
  RepositoryPlace,
  World,
} from './world.ts'

export interface FakeGitHubOptions {
  /** Folder of `<owner>/<name>.git` or `<owner>/<name>/.git`: what lies there, now or later, is served. */
  root?: string
  /** The first of five ports in a row. Default: free ones. */
  firstPort?: number
  /** As an Enterprise Server: the API lies at `/api/v3` of the web origin. */
  enterprise?: boolean
  /** Called after every request that came to its end, answered or not. */
  onAnswer?: (record: RequestRecord) => void
}

/**
 * GitHub on this machine: its API, its sign-in, git over HTTP and pictures, over real repositories. It is checked
 * against GitHub's own description of the API; what of its habits is documented nowhere is marked UNVERIFIED where it stands.
 */
export interface FakeGitHub {
  readonly origins: Origins
  readonly world: World
  readonly clock: FakeClock
  readonly log: RequestLog
  readonly faults: Faults
  readonly limits: Limits
  /** Answers that were not as the description says, and what went wrong inside. Tests expect none. */
  readonly mistakes: readonly string[]
  /** For `webhooks.ts`: bodies as everyone sees them. */
  readonly scene: Scene

  user(login: string, options?: Partial<AccountOptions>): Account
  organization(login: string, options?: Partial<AccountOptions>): Account
  repository(place: RepositoryPlace, options?: Partial<RepositoryOptions>): Repository
  /** A repository that it serves, with fields that say what it shows. @throws Error when it serves none */
  shown(owner: string, name: string, changes?: Partial<Repository>): Promise<Repository>
  app(slug: string, options?: Partial<AppOptions>): App
  install(app: App, account: Account, options?: Partial<InstallationOptions>): Installation

  personalToken(user: Account, scopes?: string[]): string
  fineGrainedToken(user: Account, sees: 'public' | 'private'): string
  /** As the sign-in gives them. */
  userTokens(app: App, user: Account): UserTokens
  installationToken(installation: Installation): string
  /** The JWT by which the app names itself, good for nine minutes. */
  appJwt(app: App): string

  /** The settings by which the product uses this host. */
  settings(more?: { token?: string }): Record<string, string>
  /** Clock, log, faults, limits and mistakes as at the start. The world stays; `world.clear()` empties it. */
  reset(): void
  close(): Promise<void>
}

export async function startFakeGitHub(options: FakeGitHubOptions = {}): Promise<FakeGitHub> {
  const { root, firstPort, enterprise = false, onAnswer = () => {} } = options
  const clock = createClock()
  const world = createWorld(clock, root ?? null)
  const log = createLog()
  const faults = createFaults()
  const mistakes: string[] = []
  const limits = createLimits(clock, token =>
    token === null ? { kind: 'anonymous' } : readCredential(world, requestWith(token)),
  )
  const api = createApi(limits, fault => void mistakes.push(fault))
  const closing = new AbortController()

  const servers: Server[] = []
  const urls: Partial<Record<HostName, string>> = {}
  for (const [index, host] of HOST_NAMES.entries()) {
    const server = createServer((message, response) => void handle(host, message, response))
    // A client must not meet the end of an idle connection just as it asks again.
    server.keepAliveTimeout = KEEP_ALIVE_MILLISECONDS
    servers.push(server)
    await listen(server, firstPort === undefined ? 0 : firstPort + index).catch(async error => {
      await close()
      throw error
    })
    urls[host] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const origins = { ...urls, ...(enterprise ? { api: `${urls.web}${ENTERPRISE_PATH}` } : {}) } as Origins

  async function close(): Promise<void> {
    closing.abort()
    for (const server of servers) {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }

  async function handle(server: HostName, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const isApi = server === 'api' || (enterprise && server === 'web' && message.url?.startsWith(`${ENTERPRISE_PATH}/`))
    const host = isApi ? 'api' : server
    const record = log.open({ host, method: message.method ?? 'GET', path: message.url ?? '/', headers: message.headers })
    try {
      if (isApi && enterprise) message.url = message.url?.slice(ENTERPRISE_PATH.length) ?? '/'
      const request = await readRequest(host, message)
      await respond(request, response, record)
    } catch (error) {
      const isLeft = closing.signal.aborted || response.destroyed || message.socket.destroyed
      if (!isLeft) mistakes.push(`${record.method} ${record.path}: ${String(error)}`)
      if (response.headersSent) response.destroy()
      else await sendAnswer(response, 'GET', textAnswer(500, 'this stand-in failed'), record).catch(() => response.destroy())
    } finally {
      log.close(record)
      onAnswer(record)
    }
  }

  async function respond(request: FakeRequest, response: ServerResponse, record: RequestRecord): Promise<void> {
    const credential = readCredential(world, request)
    record.credential = credential.kind
    record.bytesIn = request.body.length
    const gitRoute = request.host === 'web' ? matchGitRoute(request.path) : null
    if (gitRoute) record.git = describeGit(request, gitRoute)

    const fault = faults.take(request)
    record.fault = fault !== null
    if (fault?.delaySeconds !== undefined) await sleep(fault.delaySeconds * 1000, undefined, { signal: closing.signal })
    if (fault?.reset) return void response.socket?.resetAndDestroy()
    const given = fault ? faultAnswer(fault) : null
    const real = given ?? (await answer(request, credential, record))
    const body = fault?.endless ? endlessBody() : fault?.stall ? silentBody() : real.body
    await sendAnswer(response, request.method, withBody(real, body, fault), record, fault?.cutAfterBytes)
  }

  async function answer(request: FakeRequest, credential: Credential, record: RequestRecord): Promise<FakeAnswer> {
    switch (request.host) {
      case 'api':
        return api({ world, origins, credential }, request, record)
      case 'raw':
        return answerRaw(world, request, credential)
      case 'avatars':
        return answerAvatar(world, origins, request)
      case 'web': {
        const route = matchGitRoute(request.path)
        if (route) return answerGit(world, origins, request, route, credential)
        return (await answerOauth(world, request)) ?? answerPage(world, origins, request)
      }
    }
  }

  return {
    origins,
    world,
    clock,
    log,
    faults,
    limits,
    mistakes,
    scene: { world, origins, credential: { kind: 'anonymous' } },
    user: (login, options) => world.addAccount(login, 'User', options),
    organization: (login, options) => world.addAccount(login, 'Organization', options),
    repository: (place, options) => world.addRepository(place, options),
    async shown(owner, name, changes = {}) {
      const found = await world.repository(owner, name)
      if (!found) throw new Error(`there is no repository ${owner}/${name}`)
      return Object.assign(found, changes)
    },
    app: (slug, options) => world.addApp(slug, options),
    install: (app, account, options) => world.install(app, account, options),
    personalToken: (user, scopes) => issuePersonalToken(world, user, scopes),
    fineGrainedToken: (user, sees) => issueFineGrainedToken(world, user, sees),
    userTokens: (app, user) => issueUserTokens(world, app, user),
    installationToken: one => issueInstallationToken(world, one, null, one.permissions).token,
    appJwt: app => signJwt(app, clock.now()),
    settings: ({ token } = {}) => settingsOf(origins, token),
    reset() {
      clock.reset()
      log.clear()
      faults.clear()
      limits.reset()
      mistakes.length = 0
    },
    close,
  }
}

const ENTERPRISE_PATH = '/api/v3'
const KEEP_ALIVE_MILLISECONDS = 60_000

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
}

function requestWith(token: string): FakeRequest {
  const headers = { authorization: token.includes(' ') ? token : `Bearer ${token}` }
  return { host: 'api', method: 'GET', path: '/', query: new URLSearchParams(), headers, body: Buffer.alloc(0) }
}

function withBody({ body: _, ...answer }: FakeAnswer, body: FakeAnswer['body'], fault: Fault | null): FakeAnswer {
  // What replaces a body does not have its length or its compression.
  const { 'content-encoding': encoding, ...headers } = answer.headers ?? {}
  const isReplaced = fault?.endless === true || fault?.stall === true
  const kept = isReplaced || encoding === undefined ? headers : { ...headers, 'content-encoding': encoding }
  return { ...answer, headers: kept, ...(body === undefined ? {} : { body }) }
}

const SPACES = Buffer.alloc(64 * 1024, ' ')

function endlessBody(): Readable {
  return new Readable({
    read() {
      this.push(SPACES)
    },
  })
}

function silentBody(): Readable {
  return new Readable({ read() {} })
}

const JWT_SECONDS = 540
const CLOCK_DRIFT_SECONDS = 60

function signJwt(app: App, now: number): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const seconds = Math.floor(now / 1000)
  const claims = { iat: seconds - CLOCK_DRIFT_SECONDS, exp: seconds + JWT_SECONDS, iss: app.clientId }
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(app.privateKey, 'base64url')}`
}

function settingsOf(origins: Origins, token: string | undefined): Record<string, string> {
  const prefix = 'MOUNTGLASS_GITHUB'
  return {
    [`${prefix}_URL`]: origins.web,
    [`${prefix}_API_URL`]: origins.api,
    ...(token === undefined ? {} : { [`${prefix}_TOKEN`]: token }),
  }
}
