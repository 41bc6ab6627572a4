import { ABSOLUTE, CONDITIONAL, FORBIDDING_ABROAD, LICENSING, NAMES, NAMING, NEGATING, SENTENCE } from './significant-words.ts'
import { type Token, tokensOf, wordsOf } from './tokens.ts'

/** Whether a line begins a copyright statement: a mark of copyright with a year, a bracket or a name. */
export function opensStatement(line: string): boolean {
  if (COPYRIGHT_LINE.test(line)) return tokensOf(line).length <= LINE_WORDS
  return NAMED_LINE.test(line) && tokensOf(line).length <= NAMED_LINE_WORDS
}

/** Whether the next line goes on with a statement, whose holders do not end where the line does. */
export function continuesStatement(statement: string, line: string): boolean {
  const words = wordsOf(line.toLowerCase())
  if (words.length === 0 || opensStatement(line)) return false
  if (tokensOf(statement).length + words.length > STATEMENT_WORDS) return false
  if (/(?:,|&|\band|\bby)\s*$/i.test(statement) || /^(?:and|&)\s/i.test(line)) return true
  return isHolderMissing(statement) && words.length <= NAMED_LINE_WORDS && !words.some(isOfTerms)
}

/** Whether a statement only names years, people, files and contacts, without a condition or another license. */
export function isCopyrightOnly(statement: string, own: ReadonlySet<string>): boolean {
  const tokens = tokensOf(statement.replace(/\ball\s+rights\s+reserved\b/gi, ' '))
  const words = tokens.map(({ word }) => word)
  const has = (list: RegExp) => words.some(word => list.test(word))
  if (has(LICENSING) && (has(NAMING) || words.some(word => !own.has(word) && NAMES.test(word)))) return false
  if (has(ABSOLUTE) || has(FORBIDDING_ABROAD) || FORBIDDING_ABROAD.test(statement)) return false
  // "(only the files below src)" limits the copyright; "only" without files, or with a purpose, limits the permission.
  const limitsFiles = words.includes('files') && !has(CONDITIONAL)
  const speaking = tokens.filter(
    ({ word, written }) => (SENTENCE.test(word) || NEGATING.test(word)) && written !== 'May' && !(word === 'only' && limitsFiles),
  )
  const isNamed = (word: string) => NAMING.test(word) || CONDITIONAL.test(word)
  if (speaking.length > 0 && (words.some(isNamed) || !speaking.every(token => isBeginOfName(token, statement)))) return false
  return tokens.every(token => !NAMING.test(token.word) || isPartOfName(token, statement))
}

/** The name of the holders, in lower case; empty when the statement names none. */
export function holderWords(statement: string): string[] {
  const words = wordsOf(nameIn(statement).toLowerCase())
  const end = words.findLastIndex(word => !LEGAL_FORM.test(word))
  return words.slice(0, end + 1)
}

const LINE_WORDS = 24
const NAMED_LINE_WORDS = 10
const STATEMENT_WORDS = 60
// `(c)` alone also numbers clauses, so a year has to follow it.
const COPYRIGHT_LINE =
  /^(?:portions )?(?:copyright\b[^\p{L}\p{N}]*(?:\(c\)|©|\p{N}|[<[{]|by )|(?:\(c\)(?:\s*copyright\b)?|©)[^\p{L}\p{N}]*(?:\p{N}{4}|[<[{]))/iu
/** A line that names a holder without a year. */
const NAMED_LINE =
  /^(?:Portions )?Copyright:? (?:[Tt]he )?(?!(?:Holder|Owner|Notice|Law|Licen[cs]e|Office|Act|Treaty|Right|Protection|Statement|Interest)s?\b)(?=\p{Lu})/u
const LEAD = /^(?:\b(?:portions|copyright|by|the|present)\b|\(c\)|[\p{P}\p{S}\s\p{N}])+(?=\p{L})/iu
const NAME_END = /[.;:!?—](?:\s|$)|\s[-–(<[{]/u
const LEGAL_FORM =
  /^(?:inc|incorporated|llc|ltd|limited|gmbh|ag|se|kg|corp|corporation|co|company|bv|sa|sas|sarl|srl|ab|oy|plc|pty|kk)$/
const TECHNICAL = /^(?:ai|ml|llm|gpt)$/

/** The part of a statement where the first holder is named: without mark and years, up to the end of the sentence. */
function nameIn(statement: string): string {
  const rest = statement.slice(LEAD.exec(statement)?.[0].length ?? 0)
  const end = rest.search(NAME_END)
  return end < 0 ? rest : rest.slice(0, end)
}

function isHolderMissing(statement: string): boolean {
  return LEAD.exec(`${statement} x`)?.[0].length === statement.length + 1
}

function isOfTerms(word: string): boolean {
  return SENTENCE.test(word) || CONDITIONAL.test(word) || NEGATING.test(word)
}

/** Whether a word that denies begins the name of the holder, as in "No Starch Press". */
function isBeginOfName({ written }: Token, statement: string): boolean {
  const name = nameIn(statement)
  return /^\p{Lu}/u.test(written) && name.startsWith(`${written} `) && /\p{Ll}/u.test(name)
}

/** Whether the subject of a restriction is written as a part of a name: with a capital, in a handle, or as a technical term. */
function isPartOfName({ word, written }: Token, statement: string): boolean {
  if (/^\p{Lu}/u.test(written) || TECHNICAL.test(word)) return true
  const at = statement.indexOf(written)
  return /[-_@/]/.test(`${statement.charAt(at - 1)}${statement.charAt(at + written.length)}`)
}
