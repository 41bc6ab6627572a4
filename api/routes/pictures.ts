import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { countsInMount } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import { loggedError } from '../http/error-handler.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { sendBytes } from '../http/send-file.ts'
import { answerFromMount } from '../mount/answer-from-mount.ts'
import type { OpenMount } from '../mount/open-mount.ts'
import { ANONYMOUS } from '../people/viewer.ts'
import { type BadgeState, drawBadge } from '../pictures/badge.ts'
import { type CutterOptions, createCutter } from '../pictures/cutter.ts'
import { createIcons, type PicturedAccount } from '../pictures/icons.ts'
import { subjectParsers } from './subject-parsers.ts'

/** Settings of the processes that decode and draw, for tests. */
export interface PictureOptions {
  cutter?: CutterOptions
}

/**
 * The pictures of an address, for pages of any origin. They are the same for everyone: cookies and credentials are not looked at, and what is
 * not public does not exist.
 */
export function registerPictures(app: FastifyInstance, deps: Deps, options: PictureOptions = {}): void {
  const { address } = subjectParsers(deps)
  const cutter = createCutter({ onFailure: error => deps.fallbacks?.note('pictures', error), ...options.cutter })
  app.addHook('onClose', () => cutter.close())
  const icons = createIcons(cutter)
  const open = (request: FastifyRequest) =>
    answerFromMount(deps, { viewer: ANONYMOUS, subject: address(request.rawAddress ?? '') }, async mount => mount)

  app.register(async instance => {
    instance.addHook('onRequest', (_request, reply, done) => {
      reply.headers({ 'content-security-policy': "default-src 'none'; sandbox", 'cross-origin-resource-policy': 'cross-origin' })
      done()
    })
    instance.setErrorHandler(answerPlainly)
    instance.get(declarePrefix(instance, '/badge'), { schema: { hide: true } }, async (request, reply) => {
      const state = badgeStateOf(await open(request))
      const seconds = state.status === 'ready' ? 3600 : 60
      const headers = { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': `public, max-age=${seconds}` }
      const bytes = Buffer.from(drawBadge(state))
      return await sendBytes(request, reply, bytes, { etag: etagOf(bytes), headers })
    })
    instance.get(declarePrefix(instance, '/icon'), { schema: { hide: true } }, async (request, reply) => {
      const { host, repository } = await open(request)
      const account = picturedOwnerOf(repository)
      const icon = account && (await icons.get(host, account))
      if (icon === null) throw new ServiceError('file.not_found')
      const headers = { 'content-type': icon.type, 'cache-control': 'public, max-age=86400' }
      return await sendBytes(request, reply, icon.bytes, { etag: `"${icon.etag}"`, headers })
    })
  })
}

function picturedOwnerOf({ ownerId, avatar }: HostRepository): PicturedAccount | null {
  return ownerId === undefined || avatar === null ? null : { id: ownerId, avatar }
}

function badgeStateOf(mount: OpenMount): BadgeState {
  if (mount.status !== 'ready') return { status: mount.status }
  return { status: 'ready', skills: countsInMount(mount.address.path, mount.folder).skills }
}

function etagOf(bytes: Uint8Array): string {
  return `"${hash('sha256', bytes).slice(0, 32)}"`
}

/** Pictures are read by programs that show them or do not: every address without a picture is the same 404, whatever is wrong with it. */
function answerPlainly(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, details } = loggedError(thrown, request)
  if (details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(details.retryAfter))
  const [code, text] = status >= 500 ? [status, 'not available now\n'] : [404, 'not found\n']
  return reply.code(code).header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(text)
}
