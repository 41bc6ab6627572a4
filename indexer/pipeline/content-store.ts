import { hash } from 'node:crypto'
import { READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { Location } from '#core/snapshot/format.ts'
import { detached } from '#core/text.ts'
import type { BlobReader } from '../reuse/repository-tree.ts'
import { isMarkdown } from '../rules/content-kind.ts'
import { type DescribedText, describeText, parseText, type TextFacts } from '../rules/document.ts'
import { readableText } from '../rules/file-text.ts'
import { findHidden, type HiddenFinding } from '../rules/hidden-lines.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { ItemText } from '../search/input.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import type { TextReading } from '../snapshot/text-readings.ts'
import type { PackageArchives } from './package-archives.ts'

/** A file whose content is read, and what for. */
export interface WantedFile {
  file: TreeFile
  /** Store its bytes in the snapshot if they are text. */
  keep: boolean
  /** A package has it: store its bytes, whatever they are. */
  packaged: boolean
  /** Extract its title, summary and search text. */
  described: boolean
  /** Its license permits a copy: its first paragraph may be its summary. */
  mayCopy: boolean
  /** It is required reading of a skill: also keep its links and its hidden text. */
  followed: boolean
}

export interface FileContent {
  text(): string
  /** `null` unless the file is `described`. */
  description: FileDescription | null
}

export interface FileDescription {
  facts: DescribedText
  /** Its searched text, which is parsed for it unless it was parsed for its facts. */
  readText: () => ItemText
}

/** Bytes in the snapshot. */
export interface StoredBytes {
  record: Location
  sha256: string
}

/** Receives a text file. `record`: the location of its bytes, if they are kept. The next file waits for a returned promise. */
export type HandleFile = (wanted: WantedFile, content: FileContent, record: Location | null) => void | Promise<void>

/** Files that wait for their records: compression runs while the next files are read. */
const WAITING_FILES = 8

interface WaitingFile {
  wanted: WantedFile
  /** `null`: the file is not text. */
  content: FileContent | null
  record: Promise<Location> | null
}

/** Reads files, and keeps what the rules derived from them and where their records lie. Texts are freed once they are handled. */
export class ContentStore {
  readonly #blobs: BlobReader
  readonly #onFile: () => void
  readonly #packages: Pick<PackageArchives, 'add'>
  readonly #records: RecordWriter
  readonly #states = new Map<string, 'text' | 'not_text' | 'unreadable'>()
  readonly #facts = new Map<RepoPath, TextFacts>()
  readonly #hidden = new Map<RepoPath, HiddenFinding[]>()

  /** @param onFile called after every file that was read. @param packages takes the files of packages */
  constructor(
    blobs: BlobReader,
    writer: Pick<SnapshotWriter, 'addRecord'>,
    packages: Pick<PackageArchives, 'add'>,
    onFile: () => void,
  ) {
    this.#blobs = blobs
    this.#onFile = onFile
    this.#packages = packages
    this.#records = new RecordWriter(writer)
  }

  /** Reads files and calls `handle` with those that are text, in the order given. */
  async read(files: readonly WantedFile[], handle: HandleFile = () => {}): Promise<void> {
    const waiting: WaitingFile[] = []
    const handleFirst = async () => {
      const { wanted, content, record } = waiting.shift() as WaitingFile
      const location = await record
      if (content !== null) await handle(wanted, content, location)
    }
    const oids = files.map(({ file }) => file.oid)
    let at = 0
    for await (const { bytes } of this.#blobs.read(oids, READABLE_FILE_BYTES)) {
      const read = this.#readFile(files[at++] as WantedFile, bytes)
      this.#onFile()
      if (read !== null && waiting.push(read) > WAITING_FILES) await handleFirst()
    }
    while (waiting.length > 0) await handleFirst()
  }

  /** `unreadable`: the repository lacks the blob. `unread`: it was not read. */
  stateOf(oid: string): 'text' | 'not_text' | 'unreadable' | 'unread' {
    return this.#states.get(oid) ?? 'unread'
  }

  /** Where the bytes of a text lie. */
  recordOf(oid: string): Location | null {
    return this.stateOf(oid) === 'text' ? this.#records.locationOf(oid) : null
  }

  storedOf(oid: string): StoredBytes | null {
    const record = this.#records.locationOf(oid)
    return record && { record, sha256: this.#records.digestOf(oid) }
  }

  factsOf(path: RepoPath): TextFacts | null {
    return this.#facts.get(path) ?? null
  }

  /** Text of a followed file that an agent receives and a reader of the rendered page does not see. */
  hiddenIn(path: RepoPath): HiddenFinding[] {
    return this.#hidden.get(path) ?? []
  }

  #readFile(wanted: WantedFile, bytes: Uint8Array | null): WaitingFile | null {
    const { oid } = wanted.file
    const known = bytes === null ? null : this.#knownReading(wanted)
    // What has a reading is text.
    const text = bytes === null || known !== null ? null : readableText(bytes)
    this.#states.set(oid, bytes === null ? 'unreadable' : text === null && known === null ? 'not_text' : 'text')
    if (bytes === null) return null
    if (wanted.packaged) this.#packages.add(wanted.file, bytes)
    if (text === null && known === null)
      return wanted.packaged ? { wanted, content: null, record: this.#store(oid, bytes) } : null
    const textOf = () => text ?? (readableText(bytes) as string)
    const parsed = wanted.described && known === null ? parseText(wanted.file.path, textOf()) : null
    const reading = known ?? parsed?.reading ?? null
    const readText = () => {
      const { headings, body } = parsed ?? parseText(wanted.file.path, textOf())
      return { headings, body }
    }
    const content = {
      text: textOf,
      description: wanted.described ? { facts: this.#describe(wanted, reading), readText } : null,
    }
    if (wanted.followed && parsed) this.#hidden.set(wanted.file.path, findHidden(textOf(), parsed.comments))
    return { wanted, content, record: wanted.keep ? this.#store(oid, bytes, reading) : null }
  }

  #store(oid: string, bytes: Uint8Array, reading: TextReading | null = null): Promise<Location> {
    const record = this.#records.write(oid, bytes, reading)
    // Awaited in its turn, which never comes if an earlier file fails.
    record.catch(() => {})
    return record
  }

  /** What an earlier commit read of a Markdown file. Of a followed file its hidden text is wanted too, so it is parsed. */
  #knownReading({ file, described, followed }: WantedFile): TextReading | null {
    return described && !followed && isMarkdown(file.path) ? (this.#blobs.readingOf?.(file.oid) ?? null) : null
  }

  #describe({ file, followed, mayCopy }: WantedFile, reading: TextReading | null): DescribedText {
    const facts = describeText(reading, mayCopy)
    const { title, summary, links } = facts
    this.#facts.set(file.path, {
      title: title === null ? null : detached(title),
      summary: detached(summary),
      links: followed ? links.map(({ kind, target }) => ({ kind, target: detached(target) })) : [],
    })
    return facts
  }
}

/** Writes and digests the record of every blob once. */
class RecordWriter {
  readonly #writer: Pick<SnapshotWriter, 'addRecord'>
  readonly #digests = new Map<string, string>()
  readonly #locations = new Map<string, Location>()
  readonly #writing = new Map<string, Promise<Location>>()

  constructor(writer: Pick<SnapshotWriter, 'addRecord'>) {
    this.#writer = writer
  }

  /** `null` until the record is written. */
  locationOf(oid: string): Location | null {
    return this.#locations.get(oid) ?? null
  }

  /** SHA-256 of a blob that was written. */
  digestOf(oid: string): string {
    return this.#digests.get(oid) as string
  }

  async write(oid: string, bytes: Uint8Array, reading: TextReading | null): Promise<Location> {
    const written = this.#locations.get(oid) ?? this.#writing.get(oid)
    if (written) return written
    const record = this.#writer.addRecord(oid, bytes, reading)
    this.#writing.set(oid, record)
    this.#digests.set(oid, hash('sha256', bytes, 'hex'))
    this.#locations.set(oid, await record)
    this.#writing.delete(oid)
    return record
  }
}
