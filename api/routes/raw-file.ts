import type { FastifyInstance } from 'fastify'
import type { Address } from '#core/address.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import { createFairGate, GateFull, nextSlot } from '#core/concurrency/fair-gate.ts'
import { ServiceError } from '#core/errors.ts'
import { type RawFile, RawFileError } from '#core/ports/raw-file.ts'
import { ancestorsOf, baseNameOf, joinPath, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { Deps } from '../deps.ts'
import { clientNetwork } from '../http/admit.ts'
import { answerReader } from '../http/error-handler.ts'
import { untilLeft } from '../http/left.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { sendFile } from '../http/send-file.ts'
import { answerFromMount, type ReadyMount } from '../mount/open-mount.ts'
import { isCopyRefused, requireReady } from '../reading/file-page.ts'
import { isUntoldLink, readTreeRow } from '../reading/tree-row.ts'

const BUSY_RETRY_SECONDS = 5
/** Requests of one client that may wait to begin: a quarter of a second, at a millisecond each. */
const BEGINNINGS = { limit: Number.POSITIVE_INFINITY, limitEach: 256, maxWaitingEach: 0 }

/**
 * `GET /git/local/<owner>/<name>/raw/<commit>/<path>`: raw files, as the git host of local repositories would serve them.
 *
 * Any file of the commit up to `RAW_FILE_BYTES` is served, binary ones too, except those that a manifest excludes, a failed boundary closes, or no
 * license permits to copy, and links to what may not be named. The index knows which these are, so the route answers only once the commit is
 * indexed, as the files endpoint does.
 *
 * A file above 1 MiB is compared with its id while it is sent. If it is damaged, the connection ends before the last bytes, so its
 * ETag is weak: no client joins such a part with a later answer.
 *
 * Requests begin one a turn of the event loop, and so does whatever they do next: they come in bursts, and answers of the other routes
 * come in between. Clients take turns. Decision 0024.
 */
export function registerRawFiles(app: FastifyInstance, deps: Deps): void {
  const beginnings = createFairGate(BEGINNINGS)
  app.get(declarePrefix(app, '/git'), { schema: { hide: true }, errorHandler: answerReader }, async (request, reply) => {
    const { address, path } = parseRawAddress(request.rawAddress ?? '')
    const [client, signal] = [clientNetwork(request.ip), untilLeft(reply)]
    const fail = (error: unknown) => toServiceError(error, signal)
    await beginnings(client, () => nextSlot(client, signal)).catch(fail)
    const mount = await answerFromMount(deps, { viewer: request.viewer, subject: address }, async open => {
      const ready = requireReady(open, deps.clock.now())
      if (await isRefused(deps, ready, path)) throw new ServiceError('file.not_found')
      return ready
    })
    const reader = { client, signal, evict: () => reply.raw.destroy() }
    const sourceUrl = mount.host.urls.raw(mount.repository, mount.commit, path)
    const file = await deps
      .readRawFile?.(mount.repository, mount.commit, path, reader)
      .catch(error => toServiceError(error, signal, sourceUrl))
    if (!file || (await spellsUnlisted(mount, path, file).catch(fail))) throw new ServiceError('file.not_found')
    return await sendFile(request, reply, {
      sizeBytes: file.sizeBytes,
      etag: file.isVerified ? `"${file.oid}"` : `W/"${file.oid}"`,
      headers: headersOf(baseNameOf(path)),
      read: range => file.read(range).catch(fail),
    })
  })
}

function headersOf(name: string): Record<string, string> {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return {
    'content-type': IMAGE_TYPES.get(extension) ?? 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percentEncode)}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'private, max-age=3600',
  }
}

/** Whether the file is withheld, no license permits to copy it, or it is a link that leads to what may not be named. */
async function isRefused(deps: Pick<Deps, 'localSource'>, { snapshot }: ReadyMount, path: RepoPath): Promise<boolean> {
  const [row, ...withheld] = await Promise.all([
    readTreeRow(snapshot, path),
    ...[...ancestorsOf(path), path].map(above => snapshot.get('withheld', above)),
  ])
  if (withheld.some(found => found !== null) || (row !== null && isUntoldLink(row))) return true
  return await isCopyRefused(deps, snapshot, path)
}

/** Whether a link leads to what is listed by a way that is not: its bytes spell the way. */
async function spellsUnlisted({ snapshot }: ReadyMount, path: RepoPath, file: RawFile): Promise<boolean> {
  const row = await readTreeRow(snapshot, path)
  if (row?.target === undefined) return false
  if (file.sizeBytes > LINK_BYTES) return true
  const chunks: Uint8Array[] = []
  for await (const chunk of await file.read({ firstByte: 0, lastByte: file.sizeBytes - 1 })) chunks.push(chunk)
  let place = parentOf(path)
  for (const name of Buffer.concat(chunks).toString().split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      place = parentOf(place)
      continue
    }
    const next = joinPath(place, name)
    const passed = await readTreeRow(snapshot, next)
    if (passed === null) return true
    place = (passed.target as RepoPath | undefined) ?? next
  }
  return false
}

/** As long as a path is at most. */
const LINK_BYTES = 4_096

/** @param signal of a client that went away: whatever failed for it is no fault of the service */
function toServiceError(error: unknown, signal: AbortSignal, sourceUrl?: string): never {
  if (signal.aborted) throw signal.reason
  if (error instanceof GateFull) throw busy(error)
  if (!(error instanceof RawFileError)) throw error
  switch (error.reason) {
    case 'busy':
      throw busy(error)
    case 'too_large':
      throw new ServiceError('file.too_large', {
        case: 'raw',
        cause: error,
        ...(sourceUrl === undefined ? {} : { sourceUrl }),
      })
    case 'damaged':
      throw new ServiceError('skill.unavailable', { message: DAMAGED, cause: error })
    case 'unavailable':
      throw new ServiceError('mount.unavailable', { cause: error })
  }
}

function busy(cause: Error): ServiceError {
  return new ServiceError('mount.unavailable', { message: BUSY, retryAfter: BUSY_RETRY_SECONDS, cause })
}

const BUSY = `too many files are being read; try again after ${BUSY_RETRY_SECONDS} seconds`
const DAMAGED = 'the file is damaged in its repository; ask the owner to repair it'

/** Types that a manifest may name as its picture; other files are served as downloads. */
const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
])

/** @throws ServiceError `file.not_found` when the text is not the address of a raw file */
function parseRawAddress(raw: string): { address: Address; path: RepoPath } {
  const [host = '', owner = '', repository = '', keyword, ref = '', ...segments] = raw.split('/').map(decodeSegment)
  const path = segments.some(segment => segment.includes('/')) ? null : parseRepoPath(segments.join('/'))
  if (host !== 'local' || keyword !== 'raw' || !isCommitSha(ref) || !path) throw new ServiceError('file.not_found')
  return { address: { host, owner, repository, ref, path: ROOT }, path }
}

function decodeSegment(raw: string): string {
  try {
    return decodeURIComponent(raw)
  } catch (cause) {
    throw new ServiceError('file.not_found', { cause })
  }
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
