import { READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepositoryReader } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { Location } from '#core/snapshot/format.ts'
import { type ReadText, readTextFacts, type TextFacts } from './build/document.ts'
import { readableText } from './build/file-text.ts'
import { findHidden, type HiddenFinding } from './build/hidden-lines.ts'
import type { TreeFile } from './build/tree.ts'
import { createWindow, type SnapshotWriter } from './snapshot-writer.ts'

/** What was learnt from the bytes of files, and where their records lie. */
export interface ContentStore {
  /** Reads files in the order given; each one's bytes are held only while it is handled. */
  read(files: readonly WantedFile[], handle?: (wanted: WantedFile, content: FileContent) => void): Promise<void>
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

export function createContentStore(
  reader: RepositoryReader,
  writer: Pick<SnapshotWriter, 'addRecord'>,
  onFile: () => void,
): ContentStore {
  const states = new Map<string, 'text' | 'not_text' | 'unreadable'>()
  const records = new Map<string, Location | null>()
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

  return {
    async read(files, handle) {
      const writing = createWindow<void>()
      let at = 0
      for await (const { oid, bytes } of reader.read(
        files.map(wanted => wanted.file.oid),
        READABLE_FILE_BYTES,
      )) {
        const wanted = files[at++] as WantedFile
        const content = readOne(wanted, bytes)
        onFile()
        if (content === null || bytes === null) continue
        handle?.(wanted, content)
        if (!wanted.keep || records.has(oid)) continue
        records.set(oid, null)
        await writing.add(writer.addRecord(bytes).then(location => void records.set(oid, location)))
      }
      await writing.all()
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
