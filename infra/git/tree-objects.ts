import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { TreeEntry } from '#core/ports/git-host.ts'
import type { ObjectBatch, ObjectBytes } from './object-batch.ts'

/** An entry of one tree object. */
export type TreeItem = Kind & { name: Buffer; oid: string }
type Kind = { type: 'tree' } | { type: 'blob' | 'commit'; mode: TreeEntry['mode'] }

const ID_BYTES = 20
const COMMIT_BYTES = 16 * 1024 * 1024

/** What a commit object says. */
export interface Commit {
  tree: string
  /** The first one; `null` for a commit without one. */
  parent: CommitSha | null
  /** ISO 8601, UTC; `null` when it is no date that a calendar has. */
  committedAt: string | null
  /** What its author wrote, in the encoding that the commit names, or in UTF-8. */
  message: Uint8Array
  encoding: string | null
}

/** The commit is missing or damaged, or no commit has the id. */
export class UnreadableCommit extends Error {
  constructor(commit: CommitSha) {
    super(`the commit ${commit} cannot be read`)
    this.name = 'UnreadableCommit'
  }
}

/** @throws UnreadableCommit */
export async function readCommit(batch: ObjectBatch, commit: CommitSha): Promise<Commit> {
  const bytes = await readObject(batch, 'commit', commit, COMMIT_BYTES)
  const object = typeof bytes === 'string' ? Buffer.alloc(0) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const end = object.indexOf('\n\n')
  const lines = object.toString('latin1', 0, Math.min(end < 0 ? object.length : end, HEAD_BYTES))
  const tree = /^tree ([0-9a-f]{40})\n/.exec(lines)?.[1]
  if (tree === undefined) throw new UnreadableCommit(commit)
  const parent = /^parent ([0-9a-f]{40})$/m.exec(lines)?.[1] ?? ''
  return {
    tree,
    parent: isCommitSha(parent) ? (parent as CommitSha) : null,
    committedAt: dateOf(/^committer .*> (\d{1,11}) [+-]\d{4}$/m.exec(lines)?.[1]),
    message: end < 0 ? new Uint8Array() : object.subarray(end + 2),
    encoding: /^encoding (\S{1,40})$/m.exec(lines)?.[1] ?? null,
  }
}

/** Of the lines before the message. A merge of many commits names each of them before its committer. */
const HEAD_BYTES = 64 * 1024
/** The end of the year 9999, after which an instant has another form. */
const LATEST_SECONDS = 253_402_300_799

/** An instant as ISO 8601, UTC; `null` when no calendar has it. @param seconds since 1970, in digits */
export function dateOf(seconds: string | undefined): string | null {
  if (seconds === undefined || Number(seconds) > LATEST_SECONDS) return null
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}

/** The bytes of one object; see `ObjectBatch.contents`. */
export async function readObject(
  batch: ObjectBatch,
  type: 'commit' | 'tree' | 'blob',
  oid: string,
  maxBytes: number,
): Promise<ObjectBytes> {
  let found: ObjectBytes = 'unreadable'
  for await (const bytes of batch.contents(type, [{ oid, maxBytes }])) found = bytes
  return found
}

/** The entries of a tree object, in its order, with modes as git states them. @throws Error where the bytes are malformed */
export function* parseTree(bytes: Uint8Array): Generator<TreeItem> {
  const tree = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < tree.length; ) {
    const entry = entryAt(tree, at)
    if (entry === null) throw new Error(`malformed tree entry at byte ${at}`)
    const { mode, nameStart, idStart, end } = entry
    yield { ...kindOf(mode), name: tree.subarray(nameStart, idStart - 1), oid: tree.toString('hex', idStart, end) }
    at = end
  }
}

/** The ids of the trees in a tree object, up to the first malformed entry. */
export function subtreesOf(bytes: Uint8Array): string[] {
  const tree = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const oids: string[] = []
  for (let entry = entryAt(tree, 0); entry !== null; entry = entryAt(tree, entry.end)) {
    if (kindOf(entry.mode).type === 'tree') oids.push(tree.toString('hex', entry.idStart, entry.end))
  }
  return oids
}

/** `<mode in octal digits> <name>\0<id>`; `null` where the bytes are malformed, and at the end. */
function entryAt(tree: Buffer, start: number): { mode: number; nameStart: number; idStart: number; end: number } | null {
  let at = start
  let mode = 0
  for (let digit = tree[at] ?? 0; digit >= ZERO && digit < ZERO + 8; digit = tree[++at] ?? 0) mode = mode * 8 + digit - ZERO
  const nul = tree.indexOf(0, at)
  const end = nul + 1 + ID_BYTES
  if (at === start || tree[at] !== SPACE || nul <= at + 1 || end > tree.length) return null
  return { mode, nameStart: at + 1, idStart: nul + 1, end }
}

const ZERO = 0x30
const SPACE = 0x20
const KIND_BITS = 0o170000
const OWNER_EXECUTES = 0o100

/** Like git, takes every unknown mode for a submodule. */
function kindOf(mode: number): Kind {
  switch (mode & KIND_BITS) {
    case 0o040000:
      return { type: 'tree' }
    case 0o120000:
      return { type: 'blob', mode: '120000' }
    case 0o100000:
      return { type: 'blob', mode: (mode & OWNER_EXECUTES) === 0 ? '100644' : '100755' }
    default:
      return { type: 'commit', mode: '160000' }
  }
}
