import { ByteReader, ByteWriter, textOfBytes } from '#core/search/bytes.ts'
import { FormatError } from '#core/snapshot/damage.ts'
import { type DeliveredFacts, FACT_KINDS, type FactKind } from '#core/snapshot/delivered.ts'

/**
 * What indexing takes from a Markdown text besides the text itself. It depends on the bytes of the text and on the reading rules alone, so the
 * next commit need not parse the text again.
 */
export interface TextReading {
  /** Declared in front matter, else the first heading of level 1. */
  title: string | null
  /** The `name` of its front matter: searched like the title, not shown. */
  name: string | null
  /** Declared in front matter; `''` when it declares none. */
  declaredSummary: string
  /** The first paragraph; a summary of texts that may be copied. `''` when there is none. */
  firstParagraph: string
  /** One per line; searched. */
  keywords: string
  /** In order of appearance, outside code blocks. */
  links: readonly TextLink[]
  /** Of the whole file, an estimate. */
  tokens: number
  /** Of the whole file. */
  facts: DeliveredFacts
}

/** A text that needs not be read again: its bytes lie in a record, and what was taken from them is known. */
export interface KnownText {
  reading: TextReading
  /** Of the whole file, as hexadecimal digits. */
  sha256: string
  /** Of the whole file, as the gzip member of its record ends with. */
  crc32: number
}

export interface TextLink {
  /** `code`: a code span, which is a link only if it names an existing file. `path`: one that asks for a file of the skill. */
  kind: 'link' | 'image' | 'code' | 'path'
  /** As written. */
  target: string
}

/**
 * Readings are stored in gzip members that a header lists. An entry is a blob id of 20 bytes, SHA-256 and CRC-32 of the text, the length of
 * the reading, and the reading: its texts, the number of its links, of each link the kind and the target, its tokens, and its facts as lists. A
 * text is its length in UTF-8 and its bytes.
 */
export interface ReadingsWriter {
  /** Bytes that `take` returns. */
  readonly sizeBytes: number
  /** Leaves out a reading of more than `READING_BYTES`, and one that UTF-8 cannot hold: YAML can spell half of a character. */
  add(oid: string, text: KnownText): void
  /** The bytes of a member. Clears the writer. */
  take(): Uint8Array
}

/** A longer reading has very many links; its text is parsed again. */
const READING_BYTES = 8 * 1024
const OID_BYTES = 20
const SHA256_BYTES = 32
const CRC32_BYTES = 4
const LINK_KINDS = ['link', 'image', 'code', 'path'] as const

export function createReadingsWriter(): ReadingsWriter {
  const entries = new ByteWriter(64 * 1024)
  const entry = new ByteWriter()
  return {
    get sizeBytes() {
      return entries.length
    },
    add(oid, { reading, sha256, crc32 }) {
      entry.cut(0)
      if (!textsOf(reading).every(text => text.isWellFormed())) return
      writeReading(entry, reading)
      if (entry.length > READING_BYTES) return
      entries.bytes(Buffer.from(oid, 'hex'))
      entries.bytes(Buffer.from(sha256, 'hex'))
      entries.bytes(crcBytes(crc32))
      entries.varint(entry.length)
      entries.bytes(entry.data, 0, entry.length)
    },
    take() {
      const bytes = entries.finish()
      entries.cut(0)
      return bytes
    },
  }
}

/** The encoded texts of a member, by blob id. @throws FormatError when the bytes are not readings */
export function* splitReadings(member: Uint8Array): Generator<readonly [oid: string, text: EncodedText]> {
  const reader = new ByteReader(member)
  while (!reader.atEnd) {
    const oid = Buffer.from(reader.bytes(OID_BYTES)).toString('hex')
    yield [oid, { digests: reader.bytes(SHA256_BYTES + CRC32_BYTES), reading: reader.bytes(reader.varint()) }]
  }
}

/** A `KnownText` as a member has it. */
export interface EncodedText {
  /** SHA-256 and CRC-32. */
  digests: Uint8Array
  reading: Uint8Array
}

/** @throws FormatError or TypeError when the bytes are not a reading */
export function decodeText({ digests, reading }: EncodedText): KnownText {
  const bytes = Buffer.from(digests)
  return {
    reading: decodeReading(reading),
    sha256: bytes.toString('hex', 0, SHA256_BYTES),
    crc32: bytes.readUInt32LE(SHA256_BYTES),
  }
}

function crcBytes(crc32: number): Uint8Array {
  const bytes = Buffer.alloc(CRC32_BYTES)
  bytes.writeUInt32LE(crc32)
  return bytes
}

function decodeReading(bytes: Uint8Array): TextReading {
  const reader = new ByteReader(bytes)
  const text = () => textOfBytes(reader.bytes(reader.varint()))
  const optional = () => (reader.byte() === 0 ? null : text())
  const reading = {
    title: optional(),
    name: optional(),
    declaredSummary: text(),
    firstParagraph: text(),
    keywords: text(),
    links: Array.from({ length: reader.varint() }, (): TextLink => ({ kind: linkKind(reader.byte()), target: text() })),
    tokens: reader.varint(),
    facts: readFacts(reader, text),
  }
  if (!reader.atEnd) throw new FormatError('a reading has more bytes')
  return reading
}

function readFacts(reader: ByteReader, text: () => string): DeliveredFacts {
  const list = <Item>(read: () => Item): Item[] => Array.from({ length: reader.varint() }, read)
  const hidden = list((): Found<'hidden'> => [text(), reader.varint(), reader.varint()])
  const hosts = list((): Found<'hosts'> => [text(), reader.varint()])
  const commands = list((): Found<'commands'> => {
    const [command, line, digest] = [text(), reader.varint(), text()]
    return digest === '' ? [command, line] : [command, line, digest]
  })
  const cut = list(() => factKind(reader.byte()))
  return {
    ...(hidden.length > 0 && { hidden }),
    ...(hosts.length > 0 && { hosts }),
    ...(commands.length > 0 && { commands }),
    ...(cut.length > 0 && { cut }),
  }
}

type Found<Kind extends FactKind> = NonNullable<DeliveredFacts[Kind]>[number]

function factKind(index: number): FactKind {
  const kind = FACT_KINDS[index]
  if (kind === undefined) throw new FormatError(`no kind of facts has the number ${index}`)
  return kind
}

function linkKind(index: number): TextLink['kind'] {
  const kind = LINK_KINDS[index]
  if (kind === undefined) throw new FormatError(`no kind of link has the number ${index}`)
  return kind
}

function textsOf({ title, name, declaredSummary, firstParagraph, keywords, links, facts }: TextReading): string[] {
  const { hosts = [], commands = [] } = facts
  const targets = links.map(({ target }) => target)
  const told = [...hosts, ...commands].map(([fact]) => fact)
  return [title ?? '', name ?? '', declaredSummary, firstParagraph, keywords, ...targets, ...told]
}

function writeReading(writer: ByteWriter, reading: TextReading): void {
  const text = (value: string) => {
    const bytes = Buffer.from(value)
    writer.varint(bytes.length)
    writer.bytes(bytes)
  }
  for (const value of [reading.title, reading.name]) {
    writer.byte(value === null ? 0 : 1)
    if (value !== null) text(value)
  }
  for (const value of [reading.declaredSummary, reading.firstParagraph, reading.keywords]) text(value)
  writer.varint(reading.links.length)
  for (const { kind, target } of reading.links) {
    writer.byte(LINK_KINDS.indexOf(kind))
    text(target)
  }
  writer.varint(reading.tokens)
  writeFacts(writer, reading.facts, text)
}

function writeFacts(
  writer: ByteWriter,
  { hidden = [], hosts = [], commands = [], cut = [] }: DeliveredFacts,
  text: (value: string) => void,
): void {
  const list = <Item>(items: readonly Item[], write: (item: Item) => void) => {
    writer.varint(items.length)
    for (const item of items) write(item)
  }
  list(hidden, ([codePoint, count, line]) => {
    text(codePoint)
    writer.varint(count)
    writer.varint(line)
  })
  list(hosts, ([host, line]) => {
    text(host)
    writer.varint(line)
  })
  list(commands, ([command, line, digest = '']) => {
    text(command)
    writer.varint(line)
    text(digest)
  })
  list(cut, kind => writer.byte(FACT_KINDS.indexOf(kind)))
}
