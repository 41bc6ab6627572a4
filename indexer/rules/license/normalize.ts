import { continuesStatement, opensStatement } from './copyright.ts'
import { type Token, tokensOf } from './tokens.ts'

/** A license text as words. Copyright statements are separate: they name people, not permissions, but may hide a condition. */
export interface NormalizedText {
  /** Words in order, in lower case, without punctuation, list numbers and apostrophes; an address is one word. */
  words: string[]
  /** The same words as the author wrote them. */
  tokens: LineToken[]
  /** As the author wrote them; continued lines are joined. */
  copyright: string[]
}

export interface LineToken extends Token {
  /** Number of its line. */
  line: number
}

/** Splits text into comparable words, in linear time. A text longer than any license has none. */
export function normalizeText(text: string): NormalizedText {
  const normalized: NormalizedText = { words: [], tokens: [], copyright: [] }
  const plain = decodeEntities(text)
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/[’‘ʼ`´]/g, "'")
    .replace(/\bsub-(?=licens)/gi, 'sub')
    .replace(BEFORE_STATEMENT, '\n')
  // Checked after NFKC, which can turn one character into eighteen.
  if (plain.length > NORMALIZED_CHARACTERS) return normalized
  let statement: string | null = null
  for (const [number, line] of [...plain.split(LINE_BREAK).flatMap(splitStatement), ''].entries()) {
    const body = line.slice(0, LINE_MARKS).replace(MARKS, '') + line.slice(LINE_MARKS)
    if (statement !== null && continuesStatement(statement, body)) statement = `${statement} ${body}`
    else {
      if (statement !== null) normalized.copyright.push(statement)
      statement = opensStatement(body) ? body : null
      if (statement === null)
        for (const token of tokensOf(body.replace(LIST_NUMBER, ''))) normalized.tokens.push({ ...token, line: number })
    }
  }
  normalized.words = normalized.tokens.map(({ word }) => word)
  return normalized
}

/** A line whose copyright statement is followed by the license itself, as two lines. */
function splitStatement(line: string): string[] {
  const at = line.search(AFTER_STATEMENT)
  return at > 0 && /copyright|©|\(c\)/i.test(line.slice(0, at)) ? [line.slice(0, at), line.slice(at)] : [line]
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
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029\f\v]/
/** Copies without line breaks have the copyright statement between the title and the license. */
const BEFORE_STATEMENT = /(?<=[^\s©)])(?<!portions)[ \t]+(?=copyright (?:\(c\)|©|\d{4}))/gi
const AFTER_STATEMENT = /(?<=[\s.])(?:licensed under the|permission is hereby|permission to use|redistribution and use) /i
const LINE_MARKS = 200
const MARKS = /^[\s>#*_=|/;%"'.~-]+/
const LIST_NUMBER = /^(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|\(?\d{1,2}(?:\.\d{1,2}){1,2}[.)]?)\s+/i

/** Replaces the character references that Markdown tools write into license texts. */
function decodeEntities(text: string): string {
  return text.replace(ENTITY, (reference, name: string) => ENTITIES.get(name.toLowerCase()) ?? reference)
}

const ENTITY = /&(#?[a-z0-9]{2,6});/gi
const ENTITIES = new Map(
  Object.entries({
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    copy: '©',
    ndash: '–',
    mdash: '—',
    hellip: '…',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    bull: '•',
    sect: '§',
    '#34': '"',
    '#39': "'",
    '#160': ' ',
    '#169': '©',
  }),
)
