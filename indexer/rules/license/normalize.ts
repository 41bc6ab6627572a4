/** A license text as words. Lines of copyright stand apart: they name people, not permissions, but may hide a condition. */
export interface NormalizedText {
  /** Words in order: lower case, without marks, list numbers and apostrophes; an address of the web is one word. */
  words: string[]
  /** Words of each line of copyright. */
  copyright: string[][]
}

/** Turns text into comparable words. Linear in its length; of a text that is longer than any license there are none. */
export function normalizeText(text: string): NormalizedText {
  const normalized: NormalizedText = { words: [], copyright: [] }
  const plain = text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/[’‘ʼ`´]/g, "'")
    .toLowerCase()
  // One character can become eighteen, so the length counts behind the normalisation.
  if (plain.length > NORMALIZED_CHARACTERS) return normalized
  for (const line of plain.split(/\r\n|[\n\r\u2028\u2029\f\v]/)) {
    const body = line.slice(0, LINE_MARKS).replace(MARKS, '') + line.slice(LINE_MARKS)
    const found = wordsOf(body)
    if (found.length <= COPYRIGHT_WORDS && COPYRIGHT_LINE.test(body)) normalized.copyright.push(found)
    else if (found.length > 0) for (const word of wordsOf(body.replace(LIST_NUMBER, ''))) normalized.words.push(word)
  }
  return normalized
}

/** Words of one line or phrase; `text` is in lower case. */
export function wordsOf(text: string): string[] {
  return (text.match(WORD) ?? []).map(
    word => SPELLINGS.get(word) ?? (word.includes('//') ? withoutScheme(word) : word.replaceAll("'", '')),
  )
}

/** Whether the text holds what a reader does not see as it stands: struck out, commented or escaped text, or turned writing direction. */
export function isDisguised(text: string): boolean {
  return DISGUISE.test(text)
}

const DISGUISE = /~~|&#(?!3[49];|160;|169;)|<(?:del|s|strike)[\s>]|<!--(?:(?!-->)[\s\S]){60}|[\u202a-\u202e\u2066-\u2069]/i
const NORMALIZED_CHARACTERS = 256 * 1024
const INVISIBLE = /\p{Cf}/gu
const LINE_MARKS = 200
const MARKS = /^[\s>#*_=|/;%"'.~-]+/
// `(c)` alone also numbers clauses, so a year has to follow it.
const COPYRIGHT_LINE =
  /^(?:portions )?(?:copyright\b[^\p{L}\p{N}]*(?:\(c\)|©|\p{N}|[<[{]|by )|(?:\(c\)\s*(?:copyright\b)?|©)[^\p{L}\p{N}]*(?:\p{N}{4}|[<[{]))/u
const COPYRIGHT_WORDS = 24
const LIST_NUMBER = /^(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|\(?\d{1,2}(?:\.\d{1,2}){1,2}[.)]?)\s+/
const WORD = /https?:\/\/[^\s<>()[\]"']+|[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}]|'(?=\p{L}))*/gu
const SPELLINGS = new Map([
  ['licence', 'license'],
  ['licences', 'licenses'],
  ['licenced', 'licensed'],
])

function withoutScheme(address: string): string {
  return address.replace(/^https?:\/\/(?:www\.)?/, '').replace(/[/.,;:*_]+$/, '')
}
