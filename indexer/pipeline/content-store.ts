import { READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { Location } from '#core/snapshot/format.ts'
import { type ReadText, readTextFacts, type TextFacts } from '../rules/document.ts'
import { readableText } from '../rules/file-text.ts'
import { findHidden, type HiddenFinding } from '../rules/hidden-lines.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import type { BlobReader } from './read-tree.ts'

/** What was learnt from the bytes of files, and where their records lie. */
export interface ContentStore {
  /** Reads files in the order given, and has those that are text handled in it; their texts are held only until then. */
  read(files: readonly WantedFile[], handle?: HandleFile): Promise<void>
  /** `unreadable`: the blob is missing. `unread`: nobody asked for it. */
  stateOf(oid: string): 'text' | 'not_text' | 'unreadable' | 'unread'
  recordOf(oid: string): Location | null
  factsOf(path: RepoPath): TextFacts | null
  /** What the reader of a followed file does not see. */
  hiddenIn(path: RepoPath): HiddenFinding[]
}

export interface WantedFile {
  file: TreeFile
  /** Its bytes go into the snapshot. */
  keep: boolean
  /** What it says of itself is asked for. */
  described: boolean
  /** It is part of required reading: its links and what is hidden in it are asked for later. */
  followed: boolean
}

export interface FileContent {
  text: string
  /** `null` unless it is described. */
  facts: ReadText | null
}

/** `record`: where the bytes of the file lie, when they are kept. A promise is waited for before the next file is handled. */
export type HandleFile = (wanted: WantedFile, content: FileContent, record: Location | null) => void | Promise<void>

/** Files that wait for their records to be written: compressing goes on beside reading. */
const WAITING_FILES = 8

export function createContentStore(
  blobs: BlobReader,
  writer: Pick<SnapshotWriter, 'addRecord'>,
  onFile: () => void,
): ContentStore {
  const states = new Map<string, 'text' | 'not_text' | 'unreadable'>()
  const records = new Map<string, Location>()
  const writing = new Map<string, Promise<Location>>()
  const facts = new Map<RepoPath, TextFacts>()
  const hidden = new Map<RepoPath, HiddenFinding[]>()

  function readOne({ file, described, followed }: WantedFile, bytes: Uint8Array | null): FileContent | null {
    const text = bytes === null ? null : readableText(bytes)
    states.set(file.oid, bytes === null ? 'unreadable' : text === null ? 'not_text' : 'text')
    if (text === null) return null
    if (!described) return { text, facts: null }
    const read = readTextFacts(file.path, text)
    const { title, summary, links } = read
    facts.set(file.path, {
      title: title === null ? null : detached(title),
      summary: detached(summary),
      links: followed ? links.map(({ kind, target }) => ({ kind, target: detached(target) })) : [],
    })
    if (followed) hidden.set(file.path, findHidden(text, read.comments))
    return { text, facts: read }
  }

  /** Writes the bytes of a blob, once. */
  async function keep(oid: string, bytes: Uint8Array): Promise<Location> {
    const written = records.get(oid) ?? writing.get(oid)
    if (written) return written
    const record = writer.addRecord(oid, bytes)
    writing.set(oid, record)
    records.set(oid, await record)
    writing.delete(oid)
    return record
  }

  return {
    async read(files, handle) {
      const waiting: { wanted: WantedFile; content: FileContent; record: Promise<Location> | null }[] = []
      const handleFirst = async () => {
        const { wanted, content, record } = waiting.shift() as (typeof waiting)[number]
        await handle?.(wanted, content, await record)
      }
      let at = 0
      for await (const { oid, bytes } of blobs.read(
        files.map(wanted => wanted.file.oid),
        READABLE_FILE_BYTES,
      )) {
        const wanted = files[at++] as WantedFile
        const content = readOne(wanted, bytes)
        onFile()
        if (content === null || bytes === null) continue
        const record = wanted.keep ? keep(oid, bytes) : null
        // It is waited for in its turn, which does not come when one before it fails.
        record?.catch(() => {})
        if (waiting.push({ wanted, content, record }) > WAITING_FILES) await handleFirst()
      }
      while (waiting.length > 0) await handleFirst()
    },
    stateOf: oid => states.get(oid) ?? 'unread',
    recordOf: oid => records.get(oid) ?? null,
    factsOf: path => facts.get(path) ?? null,
    hiddenIn: path => hidden.get(path) ?? [],
  }
}

// A piece of a long string keeps all of it in memory; a copy does not.
function detached(text: string): string {
  return Buffer.from(text).toString()
}
