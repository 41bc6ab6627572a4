import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { PACKAGE_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { DeliveredFacts } from '#core/snapshot/delivered.ts'
import type { Location } from '#core/snapshot/format.ts'
import { countCharacters, detached } from '#core/text.ts'
import { codePlaceOf } from '../rules/commands.ts'
import { type BlobState, type FileText, isBinaryName, isMarkdown, readFileText } from '../rules/content-kind.ts'
import { type DescribedText, describeText, type ParsedText, parseText, type TextFacts } from '../rules/document.ts'
import { findHidden, type HiddenFinding } from '../rules/hidden-lines.ts'
import { factsOfText } from '../rules/text-facts.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { ItemText } from '../search/input.ts'
import type { BlobReader } from '../snapshot/repository-tree.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import type { KnownText, TextReading } from '../snapshot/text-readings.ts'
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

export interface FileDescription {
  facts: DescribedText
  /** Its searched text, which is read or parsed for it unless it was for its facts. */
  readText: () => ItemText | Promise<ItemText>
}

/** Bytes in the snapshot. */
export interface StoredBytes {
  record: Location
  sha256: string
}

/**
 * Receives a text file. `description`: `null` unless the file is `described`. `record`: the location of its bytes, if they are kept. The next
 * file waits for a returned promise.
 */
export type HandleFile = (
  wanted: WantedFile,
  description: FileDescription | null,
  record: Location | null,
) => void | Promise<void>

export interface FileReading {
  /** Asked before each file is read: whether it is left out. */
  isLeftOut(wanted: WantedFile): boolean
  /** Called after each file. */
  onFile(): void
}

/** Files that wait for their records, and their bytes: large ones are compressed while the next files are read. */
const WAITING = { files: 8, bytes: 8 * 1024 * 1024 }

interface WaitingFile {
  wanted: WantedFile
  isText: boolean
  description: FileDescription | null
  /** A promise until the record is written. */
  record: Location | Promise<Location> | null
}

/** Reads files, and keeps what the rules derived from them and where their records lie. Texts are freed once they are handled. */
export class ContentStore {
  readonly #blobs: BlobReader
  readonly #reading: FileReading
  readonly #packages: Pick<PackageArchives, 'add'>
  readonly #records: RecordWriter
  readonly #states = new Map<string, BlobState>()
  readonly #facts = new Map<RepoPath, TextFacts>()
  readonly #ofBytes = new Map<RepoPath, DeliveredFacts>()
  readonly #hidden = new Map<RepoPath, HiddenFinding[]>()
  readonly #characters = new Map<string, number>()
  readonly #leftOut = new Set<RepoPath>()

  /** @param packages takes the files of packages */
  constructor(
    blobs: BlobReader,
    writer: Pick<SnapshotWriter, 'addRecord' | 'keepRecord'>,
    packages: Pick<PackageArchives, 'add'>,
    reading: FileReading,
  ) {
    this.#blobs = blobs
    this.#reading = reading
    this.#packages = packages
    this.#records = new RecordWriter(writer)
  }

  /** Reads files and calls `handle` with those that are text, in the order given. */
  async read(files: readonly WantedFile[], handle: HandleFile = () => {}): Promise<void> {
    const waiting: WaitingFile[] = []
    const handleFirst = async () => {
      const { wanted, isText, description, record } = waiting.shift() as WaitingFile
      const location = await record
      if (isText) await handle(wanted, description, location)
    }
    const isKnown = files.map(wanted => mayBeKnown(wanted) && this.#blobs.known?.has(wanted.file.oid) === true)
    const unknown = files.filter((_, index) => !isKnown[index]).map(({ file }) => file.oid)
    const fetched = this.#blobs.read(unknown, PACKAGE_BYTES)[Symbol.asyncIterator]()
    try {
      for (const [index, wanted] of files.entries()) {
        const known = isKnown[index] === true
        if (this.#reading.isLeftOut(wanted)) {
          this.#leftOut.add(wanted.file.path)
          if (!known) await fetched.next()
          this.#reading.onFile()
          continue
        }
        const held = known ? await this.#readHeld(wanted) : null
        const read = held ?? this.#readFile(wanted, known ? await this.#readOne(wanted) : (await fetched.next()).value?.bytes)
        this.#reading.onFile()
        if (read === null) continue
        waiting.push(read)
        while (waiting[0] && !(waiting[0].record instanceof Promise && mayWait(waiting))) await handleFirst()
      }
      // To its end, so that the next reading goes on with the same process of git.
      if (unknown.length > 0) await fetched.next()
      while (waiting.length > 0) await handleFirst()
    } finally {
      await fetched.return?.()
    }
  }

  get leftOut(): ReadonlySet<RepoPath> {
    return this.#leftOut
  }

  stateOf(oid: string): BlobState {
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

  /** What a reviewer looks for in a file, also in code that is not quite text. */
  deliveredIn(path: RepoPath): DeliveredFacts {
    return this.#facts.get(path)?.delivered ?? this.#ofBytes.get(path) ?? {}
  }

  /** Characters of a followed file. */
  charactersOf(oid: string): number {
    return this.#characters.get(oid) ?? 0
  }

  /** Text of a followed file that an agent receives and a reader of the rendered page does not see. */
  hiddenIn(path: RepoPath): HiddenFinding[] {
    return this.#hidden.get(path) ?? []
  }

  /** A file whose record an earlier snapshot holds, without reading it; `null` when it has to be read. */
  async #readHeld(wanted: WantedFile): Promise<WaitingFile | null> {
    const { oid, path } = wanted.file
    const known = wanted.keep && !wanted.packaged ? this.#blobs.known?.find(oid) : null
    if (!known || !(await this.#blobs.known?.hold(oid, known.crc32))) return null
    // What has a reading is text.
    this.#states.set(oid, 'text')
    const readText = async () => {
      const bytes = await this.#readOne(wanted)
      const text = bytes && textOrNull(readFileText(bytes))
      if (text === null) throw new Error(`the text of the blob ${oid} cannot be read any more`)
      return textOf(parseText(path, text))
    }
    const description = { facts: this.#describe(wanted, known.reading, {}, false), readText }
    return waitingFile({ wanted, isText: true, description, record: this.#records.keep(oid, known) })
  }

  #readFile(wanted: WantedFile, bytes: Uint8Array | null): WaitingFile | null {
    const { oid, path } = wanted.file
    const found = bytes === null ? null : readFileText(bytes)
    this.#states.set(oid, found?.kind ?? 'unreadable')
    if (bytes === null || found === null) return null
    const text = textOrNull(found)
    if (wanted.packaged) this.#packages.add(wanted.file, bytes)
    if (text === null) {
      if (!wanted.packaged) return null
      if (found.kind !== 'in_lfs') this.#ofBytes.set(path, factsOfBytes(wanted.file, bytes))
      return waitingFile({ wanted, isText: false, description: null, record: this.#store(oid, bytes) })
    }
    const known = mayBeKnown(wanted) ? (this.#blobs.known?.find(oid)?.reading ?? null) : null
    const parsed = wanted.described && known === null ? parseText(path, text) : null
    const reading = known ?? parsed?.reading ?? null
    const readText = () => textOf(parsed ?? parseText(path, text))
    const facts = wanted.described && reading === null ? factsOfCode(wanted.file, text) : {}
    const description = wanted.described ? { facts: this.#describe(wanted, reading, facts, parsed !== null), readText } : null
    if (wanted.followed) {
      this.#characters.set(oid, countCharacters(text))
      if (parsed) this.#hidden.set(path, findHidden(text, parsed.comments))
    }
    return waitingFile({
      wanted,
      isText: true,
      description,
      record: wanted.keep ? this.#store(oid, bytes, reading) : null,
    })
  }

  async #readOne({ file }: WantedFile): Promise<Uint8Array | null> {
    let found: Uint8Array | null = null
    for await (const { bytes } of this.#blobs.read([file.oid], PACKAGE_BYTES)) found = bytes
    return found
  }

  #store(oid: string, bytes: Uint8Array, reading: TextReading | null = null): Promise<Location> {
    const record = this.#records.write(oid, bytes, reading)
    // Awaited in its turn, which never comes if an earlier file fails.
    record.catch(() => {})
    return record
  }

  /** @param isParsed whether the reading has parts of the text, which would keep it in memory */
  #describe(
    { file, followed, mayCopy }: WantedFile,
    reading: TextReading | null,
    ofCode: DeliveredFacts,
    isParsed: boolean,
  ): DescribedText {
    const described = describeText(reading, mayCopy, ofCode)
    const { title, summary, links, tokens, delivered } = described
    const facts = { title, summary, links: followed ? links : [], tokens, delivered }
    this.#facts.set(file.path, isParsed ? detachedFacts(facts) : facts)
    return described
  }
}

function textOrNull(read: FileText): string | null {
  return read.kind === 'text' ? read.text : null
}

function mayWait(files: readonly WaitingFile[]): boolean {
  const bytes = files.reduce((sum, { wanted }) => sum + (wanted.file.sizeBytes ?? 0), 0)
  return files.length <= WAITING.files && bytes <= WAITING.bytes
}

/** Its record becomes a location once that is known. */
function waitingFile(file: WaitingFile): WaitingFile {
  if (file.record instanceof Promise) {
    // Handled where the record is awaited.
    file.record.then(location => (file.record = location)).catch(() => {})
  }
  return file
}

/** What a reviewer looks for in a text that is not Markdown. */
function factsOfCode({ path, mode }: TreeFile, text: string): DeliveredFacts {
  return factsOfText(text, codePlaceOf(path, text, mode === '100755'))
}

/**
 * The facts of a file that is not UTF-8, or longer than what readers are given. A shell also runs a script with an invalid byte or a zero byte, and PowerShell runs UTF-16. Binaries and media
 * have no facts.
 */
function factsOfBytes(file: TreeFile, bytes: Uint8Array): DeliveredFacts {
  if (isBinaryName(file.path)) return {}
  const wide = WIDE.find(({ mark }) => mark.every((byte, index) => bytes[index] === byte))
  const text = (wide?.decoder ?? lenientDecoder).decode(bytes)
  const isProgram = wide === undefined && bytes.includes(0) && codePlaceOf(file.path, text, false) === null
  return isProgram ? {} : factsOfCode(file, text)
}

const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** Encodings that a byte order mark identifies. */
const WIDE = [
  { mark: [0xff, 0xfe], decoder: new TextDecoder('utf-16le') },
  { mark: [0xfe, 0xff], decoder: new TextDecoder('utf-16be') },
]

function detachedFacts({ title, summary, links, tokens, delivered }: TextFacts): TextFacts {
  return {
    title: title === null ? null : detached(title),
    summary: detached(summary),
    links: links.map(({ kind, target }) => ({ kind, target: detached(target) })),
    tokens,
    delivered,
  }
}

/** Whether a reading of an earlier commit can replace parsing the file. Not for a followed one: its hidden text is needed, which readings lack. */
function mayBeKnown({ file, described, followed }: WantedFile): boolean {
  return described && !followed && isMarkdown(file.path)
}

function textOf({ headings, body }: ParsedText): ItemText {
  return { headings, body }
}

/** Writes and digests the record of every blob once. */
class RecordWriter {
  readonly #writer: Pick<SnapshotWriter, 'addRecord' | 'keepRecord'>
  readonly #digests = new Map<string, string>()
  readonly #locations = new Map<string, Location>()
  readonly #writing = new Map<string, Promise<Location>>()

  constructor(writer: Pick<SnapshotWriter, 'addRecord' | 'keepRecord'>) {
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

  /** Refers to a record that an earlier snapshot holds. */
  keep(oid: string, { sha256 }: KnownText): Location | Promise<Location> {
    const written = this.#locations.get(oid) ?? this.#writing.get(oid)
    if (written) return written
    const record = this.#writer.keepRecord(oid)
    this.#digests.set(oid, sha256)
    this.#locations.set(oid, record)
    return record
  }

  async write(oid: string, bytes: Uint8Array, reading: TextReading | null): Promise<Location> {
    const written = this.#locations.get(oid) ?? this.#writing.get(oid)
    if (written) return written
    const sha256 = hash('sha256', bytes, 'hex')
    const record = this.#writer.addRecord(oid, bytes, reading && { reading, sha256, crc32: crc32(bytes) })
    this.#writing.set(oid, record)
    this.#digests.set(oid, sha256)
    this.#locations.set(oid, await record)
    this.#writing.delete(oid)
    return record
  }
}
