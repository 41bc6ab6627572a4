import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { accessTo } from './access.ts'
import type { Credential } from './credentials.ts'
import { runGitOnRefs, startGit } from './git-process.ts'
import { type FakeAnswer, type FakeRequest, header, redirectAnswer, textAnswer } from './http.ts'
import type { Origins } from './kinds.ts'
import type { GitAsked } from './log.ts'
import type { Repository, World } from './world.ts'

export interface GitRoute {
  owner: string
  name: string
  service: 'info/refs' | 'git-upload-pack' | 'git-receive-pack'
}

/** The three paths of git's smart HTTP, with and without `.git`. */
export function matchGitRoute(path: string): GitRoute | null {
  const match = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(path)
  if (!match) return null
  const [, owner = '', name = '', service = ''] = match
  return { owner, name, service: service as GitRoute['service'] }
}

/** Reading by git. The statuses and texts are what git clients show of github.com. */
export async function answerGit(
  world: World,
  origins: Origins,
  request: FakeRequest,
  route: GitRoute,
  credential: Credential,
): Promise<FakeAnswer> {
  const service = route.service === 'info/refs' ? request.query.get('service') : route.service
  if (service === null)
    return textAnswer(403, 'Please upgrade your git client.\nThis host does not support git over dumb-http.\n')
  if (service !== 'git-upload-pack') return refuseWrite(credential)

  const bearer = /^(?:bearer|token) /i.test(header(request, 'authorization') ?? '')
  // Only Basic is documented for git; that nothing else counts is UNVERIFIED of the real host.
  if (bearer || credential.kind === 'invalid' || credential.kind === 'app') return unauthorized(INVALID_TOKEN)
  if (credential.kind === 'installation' && credential.installation.suspendedAt !== null) return textAnswer(403, SUSPENDED)

  if (credential.kind === 'personal' && credential.user.suspended) return textAnswer(403, SUSPENDED_ACCOUNT)

  const current = await world.repository(route.owner, route.name)
  const moved = current ? null : world.renamed(route.owner, route.name)
  const repository = current ?? moved
  const access = repository ? accessTo(world, credential, repository, 'contents') : 'missing'
  const isHidden = world.privateMode && credential.kind === 'anonymous'
  if (!repository || access === 'missing' || isHidden)
    return credential.kind === 'anonymous' ? unauthorized(NOT_FOUND) : textAnswer(404, NOT_FOUND)
  if (moved) {
    const query = request.query.toString()
    const path = `/${moved.owner.login}/${moved.name}.git/${route.service}${query === '' ? '' : `?${query}`}`
    return redirectAnswer(`${origins.web}${path}`, 301)
  }
  if (access === 'blocked') return blocked(repository)
  if (access === 'saml')
    return textAnswer(403, `The '${repository.owner.login}' organization has enabled or enforced SAML SSO.\n`)
  if (access === 'suspended') return textAnswer(403, SUSPENDED)
  if (access === 'refused') return textAnswer(403, `${repository.owner.refusesTokens?.git}\n`)
  if (access === 'address')
    return textAnswer(
      403,
      `The '${repository.owner.login}' organization has an IP allow list enabled, and 192.0.2.1 is not permitted.\n`,
    )
  if (access === 'forbidden') return textAnswer(403, 'Write access to repository not granted.\n')
  return uploadPack(world, repository, request, route.service === 'info/refs')
}

const NOT_FOUND = 'Repository not found.\n'
const INVALID_TOKEN = 'Invalid username or token. Password authentication is not supported for Git operations.\n'
const SUSPENDED_ACCOUNT = 'Your account is suspended. Please visit https://support.github.com for more information.\n'
const SUSPENDED = 'This installation has been suspended.\n'

function unauthorized(text: string): FakeAnswer {
  return textAnswer(401, text, { 'www-authenticate': 'Basic realm="GitHub"' })
}

function refuseWrite(credential: Credential): FakeAnswer {
  if (credential.kind === 'anonymous') return unauthorized('No anonymous write access.\n')
  return textAnswer(403, 'Write access to repository not granted.\n')
}

function blocked({ blocked }: Repository): FakeAnswer {
  if (blocked?.reason === 'dmca') return textAnswer(451, 'Repository unavailable due to DMCA takedown.\n')
  return textAnswer(403, 'Access to this repository has been disabled by GitHub staff.\n')
}

async function uploadPack(
  world: World,
  repository: Repository,
  request: FakeRequest,
  isAdvertisement: boolean,
): Promise<FakeAnswer> {
  const protocol = header(request, 'git-protocol')
  const input = gitBody(request)
  const env = protocol === null ? {} : { GIT_PROTOCOL: protocol }
  const args = ['upload-pack', '--stateless-rpc', ...(isAdvertisement ? ['--http-backend-info-refs'] : []), repository.gitDir]
  const headers = { 'cache-control': 'no-cache, max-age=0, must-revalidate', pragma: 'no-cache' }
  if (isAdvertisement) {
    const service = Buffer.from(packetLine('# service=git-upload-pack\n') + FLUSH)
    const body = Readable.from([service, await runGitOnRefs(world, repository, args, { input, env })], { objectMode: false })
    return { status: 200, headers: { ...headers, 'content-type': 'application/x-git-upload-pack-advertisement' }, body }
  }
  const body = asksForRefs(input)
    ? Readable.from([await runGitOnRefs(world, repository, args, { input, env })], { objectMode: false })
    : startGit(world, repository, args, { input, env }).output
  return { status: 200, headers: { ...headers, 'content-type': 'application/x-git-upload-pack-result' }, body }
}

const FLUSH = '0000'

function packetLine(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text
}

function gitBody(request: FakeRequest): Buffer {
  return header(request, 'content-encoding') === 'gzip' ? gunzipSync(request.body) : request.body
}

/** What the request asks of git, for the log. */
export function describeGit(request: FakeRequest, route: GitRoute): GitAsked {
  if (route.service === 'info/refs') return { command: 'info/refs', wants: 0, haves: 0, filter: null, depth: null }
  const lines = packetLines(gitBody(request))
  const value = (start: string) => lines.find(line => line.startsWith(start))?.slice(start.length) ?? null
  const depth = value('deepen ')
  return {
    command: asksForRefs(gitBody(request)) ? 'ls-refs' : 'fetch',
    wants: lines.filter(line => line.startsWith('want ')).length,
    haves: lines.filter(line => line.startsWith('have ')).length,
    filter: value('filter '),
    depth: depth === null ? null : Number(depth),
  }
}

function asksForRefs(body: Buffer): boolean {
  return packetLines(body).includes('command=ls-refs')
}

function packetLines(body: Buffer): string[] {
  const lines: string[] = []
  for (let offset = 0; offset + 4 <= body.length; ) {
    const length = Number.parseInt(body.toString('latin1', offset, offset + 4), 16)
    if (Number.isNaN(length)) break
    if (length > 4) lines.push(body.toString('utf8', offset + 4, offset + length).replace(/\n$/, ''))
    offset += Math.max(length, 4)
  }
  return lines
}
