import type { FastifyInstance } from 'fastify'
import type { Address } from '#core/address.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import { ServiceError } from '#core/errors.ts'
import { ancestorsOf, baseNameOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { Deps, RawFile } from '../deps.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { sendFile } from '../http/send-file.ts'
import { openMount, type ReadyMount } from '../mount/open-mount.ts'
import { requireReady } from '../reading/file-page.ts'

/**
 * `GET /git/local/<owner>/<name>/raw/<commit>/<path>`: raw files, as the git host of local repositories would serve them.
 *
 * Any file of the commit is served, described-only ones too, except those that a manifest excludes or a failed boundary closes. The index
 * knows which these are, so the route answers only once the commit is indexed, as the files endpoint does.
 */
export function registerRawFiles(app: FastifyInstance, deps: Deps): void {
  app.get(declarePrefix(app, '/git'), { schema: { hide: true } }, async (request, reply) => {
    const { address, path } = parseRawAddress(request.rawAddress ?? '')
    const mount = requireReady(await openMount(deps, request.viewer, address), deps.clock.now())
    const withheld = await Promise.all([...ancestorsOf(path), path].map(above => mount.snapshot.get('withheld', above)))
    if (withheld.some(row => row !== null)) throw new ServiceError('file.not_found')
    const file = await readRawFile(deps, mount, path)
    const name = baseNameOf(path)
    reply.header(
      'content-type',
      IMAGE_TYPES.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase()) ?? 'application/octet-stream',
    )
    reply.header(
      'content-disposition',
      `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percentEncode)}`,
    )
    reply.header('content-security-policy', "default-src 'none'; sandbox")
    reply.header('cross-origin-resource-policy', 'cross-origin')
    reply.header('cache-control', 'private, max-age=3600')
    return await sendFile(request, reply, file, `"${file.oid}"`)
  })
}

async function readRawFile(
  deps: Pick<Deps, 'readRawFile'>,
  { repository, commit }: ReadyMount,
  path: RepoPath,
): Promise<RawFile> {
  try {
    const file = await deps.readRawFile?.(repository, commit, path)
    if (file) return file
  } catch (cause) {
    throw new ServiceError('mount.unavailable', { cause })
  }
  throw new ServiceError('file.not_found')
}

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
