import { READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepositoryReader } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { Location } from '#core/snapshot/format.ts'
import { readTextFacts, type TextFacts } from './build/document.ts'
import { readableText } from './build/file-text.ts'
import type { TreeFile } from './build/tree.ts'
import type { SnapshotWriter } from './snapshot-writer.ts'

/** What was learnt from the bytes of files, and where their records lie. */
export interface ContentStore {
  /** Reads files in the order given; each one's bytes are held only while it is handled. */
  read(files: readonly WantedFile[], handle?: (wanted: WantedFile, content: FileContent) => void): Promise<void>
  /** `unreadable`: the blob is missing. `unread`: nobody asked for it. */
  stateOf(oid: string): 'text' | 'not_text' | 'unreadable' | 'unread'
  recordOf(oid: string): Location | null
  factsOf(path: RepoPath): TextFacts | null
}

export interface WantedFile {
  file: TreeFile
  /** Its bytes go into the snapshot. */
  keep: boolean
}

export interface FileContent {
  text: string
  facts: TextFacts
}

export function createContentStore(
  reader: RepositoryReader,
  writer: SnapshotWriter,
  onFile: (sizeBytes: number) => void,
): ContentStore {
  const states = new Map<string, 'text' | 'not_text' | 'unreadable'>()
  const records = new Map<string, Location>()
  const facts = new Map<RepoPath, TextFacts>()

  async function readOne({ file, keep }: WantedFile, bytes: Uint8Array | null): Promise<FileContent | null> {
    const text = bytes === null ? null : readableText(bytes)
    states.set(file.oid, bytes === null ? 'unreadable' : text === null ? 'not_text' : 'text')
    if (bytes === null || text === null) return null
    if (keep && !records.has(file.oid)) records.set(file.oid, await writer.addRecord(bytes))
    const content = { text, facts: readTextFacts(file.path, text) }
    facts.set(file.path, content.facts)
    return content
  }

  return {
    async read(files, handle) {
      let at = 0
      for await (const { bytes } of reader.read(
        files.map(wanted => wanted.file.oid),
        READABLE_FILE_BYTES,
      )) {
        const wanted = files[at++] as WantedFile
        const content = await readOne(wanted, bytes)
        onFile(bytes?.length ?? 0)
        if (content) handle?.(wanted, content)
      }
    },
    stateOf: oid => states.get(oid) ?? 'unread',
    recordOf: oid => records.get(oid) ?? null,
    factsOf: path => facts.get(path) ?? null,
  }
}
