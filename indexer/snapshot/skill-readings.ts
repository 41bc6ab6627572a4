import { textOfBytes } from '#core/search/bytes.ts'
import { FormatError } from '#core/snapshot/damage.ts'
import { encodeText } from '#core/text.ts'

/**
 * Readings of skills by blob id, as JSON (`indexer/rules/skill-reading.ts`). They are stored in gzip members that a header lists, a line for each: the
 * id, a space, and the JSON.
 */
export class SkillReadings implements Iterable<readonly [oid: string, json: string]> {
  readonly #json = new Map<string, string>()
  #characters = 0

  /** Leaves out `null` and a long reading, which has very many links or fields, and all that follow the first `CHARACTERS`: their texts are parsed again. */
  add(oid: string, json: string | null): void {
    if (json === null || json.length > READING_CHARACTERS || this.#characters + json.length > CHARACTERS || this.#json.has(oid))
      return
    this.#characters += json.length
    this.#json.set(oid, json)
  }

  [Symbol.iterator](): Iterator<[oid: string, json: string]> {
    return this.#json[Symbol.iterator]()
  }
}

const READING_CHARACTERS = 16 * 1024
/** Of all readings of a snapshot. */
const CHARACTERS = 8 * 1024 * 1024

/** The bytes of members, before they are compressed: as many readings each as reach `MEMBER_CHARACTERS`. */
export function* skillReadingMembers(readings: Iterable<readonly [oid: string, json: string]>): Generator<Uint8Array> {
  let lines = ''
  for (const [oid, json] of readings) {
    lines += `${oid} ${json}\n`
    if (lines.length < MEMBER_CHARACTERS) continue
    yield encodeText(lines)
    lines = ''
  }
  if (lines !== '') yield encodeText(lines)
}

const MEMBER_CHARACTERS = 64 * 1024

/** @throws FormatError or TypeError when the bytes are not a member */
export function* splitSkillReadings(member: Uint8Array): Generator<readonly [oid: string, json: string]> {
  const lines = textOfBytes(member).split('\n')
  if (lines.pop() !== '') throw new FormatError('the last reading of a skill is cut off')
  for (const line of lines) {
    if (!LINE.test(line)) throw new FormatError('a reading of a skill has no blob id')
    yield [line.slice(0, OID_CHARACTERS), line.slice(OID_CHARACTERS + 1)]
  }
}

const OID_CHARACTERS = 40
const LINE = /^[0-9a-f]{40} \{/
