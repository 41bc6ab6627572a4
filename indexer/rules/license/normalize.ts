import { withoutTrailing } from '#core/text.ts'

/** A license text as words. Copyright lines are separate: they name people, not permissions, but may hide a condition. */
export interface NormalizedText {
  /** Words in order, in lower case, without punctuation, list numbers and apostrophes; a URL is one word. */
  words: string[]
  /** The words of each copyright line. */
  copyright: string[][]
}

/** Splits text into comparable words, in linear time. A text longer than any license has none. */
export function normalizeText(text: string): NormalizedText {
  const normalized: NormalizedText = { words: [], copyright: [] }
  const plain = text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/[’‘ʼ`´]/g, "'")
    .toLowerCase()
  // Checked after NFKC, which can turn one character into eighteen.
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

/**
 * Whether a reader may see other words: the text contains struck-out text, an HTML comment of at least 60 characters, a numeric character
 * reference (other than quotes, a no-break space and ©), or a change of the writing direction.
 */
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
  /^(?:portions )?(?:copyright\b[^\p{L}\p{N}]*(?:\(c\)|©|\p{N}|[<[{]|by )|(?:\(c\)(?:\s*copyright\b)?|©)[^\p{L}\p{N}]*(?:\p{N}{4}|[<[{]))/u
const COPYRIGHT_WORDS = 24
const LIST_NUMBER = /^(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|\(?\d{1,2}(?:\.\d{1,2}){1,2}[.)]?)\s+/
const WORD = /https?:\/\/[^\s<>()[\]"']+|[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}]|'(?=\p{L}))*/gu
const SPELLINGS = new Map([
  ['licence', 'license'],
  ['licences', 'licenses'],
  ['licenced', 'licensed'],
])

function withoutScheme(address: string): string {
  return withoutTrailing(address.replace(/^https?:\/\/(?:www\.)?/, ''), /[/.,;:*_]/)
}
