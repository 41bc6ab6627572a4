import type { Address } from '#core/address.ts'
import type { FilePage, FileQuery } from '#core/contract/file.ts'
import { ServiceError } from '#core/errors.ts'
import { INDEXING_RETRY_SECONDS } from '#core/limits.ts'
import { isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { FileRow } from '#core/snapshot/format.ts'
import { countCharacters, decodeText, sliceCharacters } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { readFolder } from '../mount/folder.ts'
import type { OpenMount, ReadyMount } from '../mount/open-mount.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { isUntoldLink, placeOf, readTreeRow } from './tree-row.ts'

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
  if (file === null) throw await absenceOf(deps, mount, path)
  const sourceUrl = host.urls.raw(repository, commit, file.target ?? path)
  if (file.record === undefined || file.sha256 === undefined || file.refusal !== undefined)
    throw refusalOf(file, sourceUrl, isSourceServed(deps, mount.address))

  const bytes = await snapshot.record(file.record)
  if (bytes.length !== file.sizeBytes)
    throw new ServiceError('skill.unavailable', { cause: new Error(`the record of ${path} is not its file`) })
  const text = decodeText(bytes)
  if (text === null) throw new ServiceError('file.not_text', { sourceUrl })
  const target = file.target === undefined ? null : await readableTarget(mount, file.target as RepoPath)
  const { sizeBytes: size, sha256 } = file
  return { kind: 'file', path, ...cutFilePage(text, query), commit, size, sha256, ...(target === null ? {} : { target }) }
}

/** Where a link leads; `null` where this address does not read a file. */
async function readableTarget({ snapshot, address }: ReadyMount, target: RepoPath): Promise<RepoPath | null> {
  const file = isInside(address.path, target) ? await snapshot.get('files', target) : null
  return file?.record === undefined || file.refusal !== undefined ? null : target
}

/** Why there is no text at a path. What a manifest excludes or closes is as absent as what does not exist. */
async function absenceOf(deps: Pick<Deps, 'localSource'>, mount: ReadyMount, path: RepoPath): Promise<ServiceError> {
  const { snapshot, host, repository, commit, address } = mount
  const row = isInside(address.path, path) ? await readTreeRow(snapshot, path) : null
  if (row === null || (row.kind === 'directory' && row.why === undefined)) return new ServiceError('file.not_found')
  // Hosts serve the text of a link at its own path.
  const target = row.target as RepoPath | undefined
  const isToFile =
    target !== undefined && isInside(address.path, target) && (await readTreeRow(snapshot, target))?.kind === 'file'
  const place = isToFile ? target : await placeOf(snapshot, path)
  const original = isInside(address.path, place) ? place : path
  const sourceUrl = host.urls.raw(repository, commit, original)
  if (row.kind === 'directory') return new ServiceError('file.not_found', { sourceUrl, case: 'submodule' })
  const isLink = row.why === 'link'
  const isKept = isLocal(address) && (isUntoldLink(row) || (await isCopyRefused(deps, snapshot, original)))
  return new ServiceError('file.not_found', {
    sourceUrl,
    case: isLink ? (isKept ? 'link_kept' : 'link') : isKept ? 'there_kept' : 'there',
  })
}

/** Whether this service, as the host of local repositories, withholds the file because no license permits to copy it. */
export async function isCopyRefused(
  { localSource }: Pick<Deps, 'localSource'>,
  snapshot: Snapshot,
  path: RepoPath,
): Promise<boolean> {
  if (localSource === 'open') return false
  const folder = await readFolder(snapshot, parentOf(path))
  return folder === null || folder.describedOnly === true
}

function isLocal({ host }: Pick<Address, 'host'>): boolean {
  return host === 'local'
}

/** Whether the host shows files that no license permits to copy. The host of a local repository is this service. */
export function isSourceServed({ localSource }: Pick<Deps, 'localSource'>, address: Pick<Address, 'host'>): boolean {
  return !isLocal(address) || localSource === 'open'
}

function refusalOf({ refusal, inLfs }: FileRow, sourceUrl: string, isSourceServed: boolean): ServiceError {
  const isDeadEnd = refusal === 'file.not_served' && !isSourceServed
  const said = isDeadEnd ? { case: 'kept' as const } : inLfs ? { case: 'lfs' as const } : {}
  return new ServiceError(refusal ?? 'file.not_found', { sourceUrl, ...said })
}

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
