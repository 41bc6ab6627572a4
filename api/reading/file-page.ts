import type { Address } from '#core/address.ts'
import type { FilePage, FileQuery } from '#core/contract/file.ts'
import { ServiceError } from '#core/errors.ts'
import { INDEXING_RETRY_SECONDS } from '#core/limits.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import type { FileRow } from '#core/snapshot/format.ts'
import { countCharacters, decodeText, sliceCharacters } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import type { OpenMount, ReadyMount } from '../mount/open-mount.ts'

/**
 * One page of a text file. The index decides which files are served, so the endpoint answers only once it is ready.
 *
 * @throws ServiceError `request.invalid`, `index.*`, `file.*`, `skill.unavailable`
 */
export async function readFilePage(
  deps: Pick<Deps, 'clock' | 'localSource'>,
  open: OpenMount,
  query: FileQuery,
): Promise<FilePage> {
  const path = query.path as RepoPath
  const mount = requireReady(open, deps.clock.now())
  const { snapshot, host, repository, commit } = mount

  const file = isInside(mount.address.path, path) ? await snapshot.get('files', path) : null
  if (file === null) throw new ServiceError('file.not_found')
  const sourceUrl = host.urls.raw(repository, commit, file.target ?? path)
  if (file.record === undefined || file.sha256 === undefined || file.refusal !== undefined)
    throw refusalOf(file, sourceUrl, isSourceServed(deps, mount.address))

  const bytes = await snapshot.record(file.record)
  if (bytes.length !== file.sizeBytes)
    throw new ServiceError('skill.unavailable', { cause: new Error(`the record of ${path} is not its file`) })
  const text = decodeText(bytes)
  if (text === null) throw new ServiceError('file.not_text', { sourceUrl })
  return { kind: 'file', path, ...cutFilePage(text, query), commit, size: file.sizeBytes, sha256: file.sha256 }
}

/** Whether the host shows files that no license permits to copy. The host of a local repository is this service. */
export function isSourceServed({ localSource }: Pick<Deps, 'localSource'>, { host }: Pick<Address, 'host'>): boolean {
  return host !== 'local' || localSource === 'open'
}

function refusalOf({ refusal, inLfs }: FileRow, sourceUrl: string, isSourceServed: boolean): ServiceError {
  const isDeadEnd = refusal === 'file.not_served' && !isSourceServed
  const said = isDeadEnd ? { message: WITHHELD } : inLfs ? { case: 'lfs' as const } : {}
  return new ServiceError(refusal ?? 'file.not_found', { sourceUrl, ...said })
}

/** The message of a refusal whose `sourceUrl` leads to nothing. */
export const WITHHELD =
  'no license permits a copy of the file, and this deployment withholds the original too; ask the owner of the repository'

/**
 * Cuts `limit` characters from the text, starting at `offset`.
 *
 * @throws ServiceError `request.invalid` when the offset lies past the end. At the end the page is empty
 */
export function cutFilePage(
  text: string,
  { offset, limit }: { offset: number; limit: number },
): Pick<FilePage, 'content' | 'offset' | 'nextOffset' | 'totalLength'> {
  const totalLength = countCharacters(text)
  if (offset > totalLength)
    throw new ServiceError('request.invalid', {
      message: `parameter offset is ${offset}, past the end of the file at ${totalLength} characters`,
    })
  const end = Math.min(offset + limit, totalLength)
  // Without surrogate pairs, characters are code units and can be sliced directly.
  const content = totalLength === text.length ? text.slice(offset, end) : sliceCharacters(text, offset, limit)
  return { content, offset, nextOffset: end < totalLength ? end : null, totalLength }
}

/**
 * The mount, when its index is ready.
 *
 * @throws ServiceError `index.indexing` or `index.failed`, with `retryAfter`
 */
export function requireReady(mount: OpenMount, now: Date): ReadyMount {
  switch (mount.status) {
    case 'ready':
      return mount
    case 'indexing':
      throw new ServiceError('index.indexing', { retryAfter: INDEXING_RETRY_SECONDS })
    case 'failed': {
      const seconds = Math.ceil((Date.parse(mount.retryAt) - now.getTime()) / 1000)
      throw new ServiceError('index.failed', { retryAfter: Math.max(1, seconds) })
    }
  }
}
