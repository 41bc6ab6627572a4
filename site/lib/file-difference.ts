import { type Address, formatAddress } from '#core/address.ts'
import { differenceInTurn, piecesOf } from '#core/changes/unified.ts'
import type { FilePage } from '#core/contract/file.ts'
import type { ApiClient, ApiError, ApiResult } from './api-client.ts'
import { findEntry } from './withheld.ts'

/* The difference of one file, which the API serves on each side by itself. */

/** A file on one side. */
export interface FileState {
  /** Bytes; `null` where no list of a folder has it. */
  size: number | null
  /** Why the service shows no text of it; `null` of a text. */
  refusal: ApiError['code'] | null
}

/** How a file differs. Of the text on one side alone, all lines were added or removed. */
export interface FileDifference {
  path: string
  /** The path on the old side, where it is another one. */
  movedFrom: string | undefined
  change: 'added' | 'removed' | 'changed' | 'moved' | 'unchanged'
  before: FileState | null
  after: FileState | null
  /** Pieces of the unified difference; none where a side has no text, or where the texts are the same. `null`: not read, because the file is long. */
  pieces: string[] | null
}

/** An address and a path of it, at a commit. */
export interface FilePlace {
  address: Address
  path: string
}

/** As many characters as the API gives at once. */
const PAGE_CHARACTERS = '100000'

/**
 * Compares a file of two commits.
 *
 * @param old, new_ `null` on a side that is not looked at
 * @param longest Characters of a side that are read at most. Default: all, of which a file that is served has a mebibyte at most
 * @returns `null` when neither side has the file
 */
export async function loadFileDifference(
  client: ApiClient,
  old: FilePlace | null,
  new_: FilePlace | null,
  longest = Number.POSITIVE_INFINITY,
): Promise<FileDifference | null> {
  const [before, after] = await Promise.all([old && readFile(client, old, longest), new_ && readFile(client, new_, longest)])
  const path = (after && new_ ? new_ : before && old ? old : null)?.path
  if (path === undefined) return null
  const hasMoved = before !== null && after !== null && old?.path !== path
  const isSame = before?.sha256 !== undefined && before.sha256 === after?.sha256
  return {
    path,
    movedFrom: hasMoved ? old?.path : undefined,
    change: before === null ? 'added' : after === null ? 'removed' : hasMoved ? 'moved' : isSame ? 'unchanged' : 'changed',
    before: before && stateOf(before),
    after: after && stateOf(after),
    pieces: await piecesBetween(before, after),
  }
}

interface ReadFile extends FileState {
  sha256?: string
  /** `null` of a long file; absent where there is no text. */
  text?: string | null
}

/** Errors that say that a side lacks the file. */
const ABSENT = new Set(['file.not_found', 'mount.path_not_found'])

async function readFile(client: ApiClient, { address, path }: FilePlace, longest: number): Promise<ReadFile | null> {
  const pages: FilePage[] = []
  for (let offset: number | null = 0; offset !== null; ) {
    const query: Record<'path' | 'offset' | 'limit', string> = { path, offset: String(offset), limit: PAGE_CHARACTERS }
    const result: ApiResult<'files'> = await client.get('files', formatAddress(address), query)
    if (!result.ok) return await refusedFile(client, { address, path }, result.error.code)
    const { size, sha256, totalLength, nextOffset } = result.answer
    if (totalLength > longest) return { size, sha256, refusal: null, text: null }
    pages.push(result.answer)
    offset = nextOffset
  }
  const [first] = pages as [FilePage, ...FilePage[]]
  return { size: first.size, sha256: first.sha256, refusal: null, text: pages.map(({ content }) => content).join('') }
}

async function refusedFile(client: ApiClient, { address, path }: FilePlace, code: string): Promise<ReadFile | null> {
  if (ABSENT.has(code)) return null
  const entry = await findEntry(client, address, path)
  return { size: entry?.kind === 'file' ? (entry.size ?? null) : null, refusal: code }
}

function stateOf({ size, refusal }: FileState): FileState {
  return { size, refusal }
}

async function piecesBetween(before: ReadFile | null, after: ReadFile | null): Promise<string[] | null> {
  const texts = [before, after].map(side => (side === null ? '' : side.text))
  const [old, new_] = texts
  if (old === undefined || new_ === undefined || before?.sha256 === after?.sha256) return []
  return old === null || new_ === null ? null : piecesOf(await differenceInTurn(old, new_))
}
