import {
  ABSOLUTE,
  ADDRESSING,
  CONDITIONAL,
  FORBIDDING_ABROAD,
  LICENSING,
  NAMES,
  NAMING,
  NEGATING,
  SENTENCE,
} from './significant-words.ts'
import { isAddress, type Token, tokensOf, wordsOf } from './tokens.ts'

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
  return (
    isHolderMissing(statement) &&
    words.length <= NAMED_LINE_WORDS &&
    !words.some(word => isOfSentences(word) || CONDITIONAL.test(word))
  )
}

/** Whether a statement only names years, people, files and contacts, without a condition or another license. */
export function isCopyrightOnly(statement: string, own: ReadonlySet<string>): boolean {
  const text = statement.replace(/\ball\s+rights\s+reserved\b/gi, ' ').replace(/\bnon-profit/gi, 'Nonprofit')
  const tokens = tokensOf(text)
  const words = tokens.map(({ word }) => word)
  const has = (list: RegExp) => words.some(word => list.test(word))
  if (has(LICENSING) && (has(NAMING) || words.some(word => !own.has(word) && NAMES.test(word)))) return false
  if (has(ABSOLUTE) || has(FORBIDDING_ABROAD) || FORBIDDING_ABROAD.test(text)) return false
  // "(only the files below src)" limits the copyright; "only" without files, or with a purpose, limits the permission.
  const limitsFiles = words.includes('files') && !has(CONDITIONAL)
  const name = nameIn(text)
  const { speaking = [], others = [] } = Object.groupBy(tokens, ({ word, written }) =>
    isOfSentences(word) && written !== 'May' && !(word === 'only' && limitsFiles) ? 'speaking' : 'others',
  )
  return (
    !isRestrictive(speaking, others) &&
    speaking.every(token => isBeginOfName(token, name)) &&
    others.every(token => isHarmlessPart(token, text, name)) &&
    isMadeOfNames(text, new Set([...own, ...(limitsFiles ? ['only'] : [])]))
  )
}

/** Whether words that deny or speak have a subject beside them, or a subject has a scope, as in "Evaluation copy". */
function isRestrictive(speaking: readonly Token[], others: readonly Token[]): boolean {
  const denies = speaking.some(({ word }) => NEGATING.test(word))
  const isScope = ({ word }: Token) => CONDITIONAL.test(word) && !LEGAL_FORM.test(word)
  const isSubject = ({ word }: Token) => NAMING.test(word) && (denies || !TECHNICAL.test(word))
  if (speaking.length > 0) return others.some(token => isSubject(token) || isScope(token))
  return others.some(isSubject) && others.some(token => isScope(token) && /^\p{Ll}/u.test(token.written))
}

/** The name of the first holder, in lower case and without its legal form; empty when the statement names none. */
export function holderWords(statement: string): string[] {
  const words = wordsOf((nameIn(statement).split(/,|&| and /)[0] ?? '').toLowerCase())
  return words.slice(0, words.findLastIndex(word => !LEGAL_FORM.test(word)) + 1)
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
/** Not of an abbreviation. */
const SENTENCE_END = /(?:(?<!\b(?:inc|ltd|corp|co|dr|mr|ms|mrs|st|jr|sr|no|\p{L}))\.|[;:!?—])(?=\s|$)/iu
const NAME_END = new RegExp(`${SENTENCE_END.source}|\\s[-–(<[{]`, 'iu')
export const LEGAL_FORM =
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

function isOfSentences(word: string): boolean {
  return SENTENCE.test(word) || NEGATING.test(word)
}

/** Whether a word that denies or speaks begins the name of the holder, as in "No Starch Press"; or is all of it, as a handle may be. */
function isBeginOfName({ word, written }: Token, name: string): boolean {
  if (NEGATING.test(word) && !DENYING_NAME.test(word)) return false
  const words = tokensOf(name).filter(one => !TITLE.test(one.word))
  if (words.length === 1 && words[0]?.written === written) return true
  return (
    /^\p{Lu}/u.test(written) && name.startsWith(written) && /^\P{L}/u.test(name.slice(written.length)) && /\p{Ll}/u.test(name)
  )
}

/**
 * Whether a statement consists of names and of the words that stand around them. A sentence of ordinary words ("Ask first.", "licensed to
 * members") is none, though no word in it restricts by itself.
 */
function isMadeOfNames(text: string, own: ReadonlySet<string>): boolean {
  const isKnown = ({ word }: Token) => own.has(word) || AROUND_NAMES.has(word) || LEGAL_FORM.test(word) || !/\p{L}{2}/u.test(word)
  return text.split(MARK).every(part => {
    const name = nameIn(part)
    const rest = part.slice(part.indexOf(name) + name.length)
    const [holder = '', ...others] = name.split(',')
    const isPlain = (words: string, isNamed: boolean) =>
      tokensOf(words).every(
        token =>
          isKnown(token) ||
          BEHIND_NAMES.has(token.word) ||
          (isNamed && isName(token) && (token.isJoined || !ADDRESSING.test(token.word))),
      )
    const isHandle = !/\p{Lu}/u.test(name)
    return (
      isHolder(holder, isKnown) &&
      others.every(other => (isHandle ? isHolder(other, isKnown) : isPlain(other, true))) &&
      // A bracket or a dash goes on with names; behind the end of a sentence another one begins.
      rest.split(SENTENCE_END).every((sentence, index) => isPlain(sentence, index === 0 && /^\s*[-–(<[{]/.test(rest)))
    )
  })
}

/** Whether words may be a holder: also in lower case, as handles are, but not where they limit or address somebody. */
function isHolder(words: string, isKnown: (token: Token) => boolean): boolean {
  const tokens = tokensOf(words)
  return tokens.every((token, index) => {
    if (isKnown(token) || isName(token)) return true
    if (!CONNECTING.test(token.word)) return !CONDITIONAL.test(token.word) && !FUNCTION_WORDS.test(token.word)
    const next = tokens.slice(index + 1).find(other => !isKnown(other))
    return next === undefined || isName(next)
  })
}

/** Whether a word is written as a name, or is a part of a handle or an address. */
function isName({ word, written, isJoined }: Token): boolean {
  return isAddress(word) || (isJoined && !DOCUMENT.test(word)) || (!/^\p{Ll}/u.test(written) && !/^reserv/.test(word))
}

/** Whether a word is a part of a handle, an address or a path wherever it occurs. A dot joins nothing here: it may end a sentence. */
function isPartOfHandle(written: string, statement: string): boolean {
  const [first = '', ...others] = statement.split(written)
  const before = [first, ...others]
  return others.every((behind, index) => /[-_@/]$/.test(before[index] ?? '') || /^[-_@/]/.test(behind))
}

/** Ends of the names of files, which may hold terms. */
const DOCUMENT = /^(?:md|txt|rst|html?|pdf)$/
const MARK = /(?=\b(?:portions\s+)?copyright\b|\(c\)|©)/i
/** In names they stand before another name: "Institute for Open Science". */
const CONNECTING = /^(?:for|to|in|at|on|from|with)$/
const FUNCTION_WORDS =
  /^(?:as|until|till|before|after|than|via|who|whom|whose|that|which|is|are|was|were|be|it|you|your|we|us|our|they|their|do|does|has|have|please|ask|per)$/
/** Words that stand around names in copyright statements. */
export const AROUND_NAMES: ReadonlySet<string> = new Set(
  `copyright portions by and or the a an of et al all others other many its their various respective original individual third party parties
  author authors contributor contributors owner owners holder holders team teams project projects community developer developers maintainer maintainers
  affiliates subsidiaries group company companies organization foundation university institute dba aka formerly
  year years yyyy fullname name names present today later
  file files folder directory below above under software work code program package repository module library documentation content
  de la le du des del di da van von der den und y e og och na http https mailto`.split(/\s+/),
)
/** Words that stand behind names. */
const BEHIND_NAMES: ReadonlySet<string> = new Set(
  `see list listed at in for details more information full complete history modified licensed license released as this
  alle rechte vorbehalten tous droits réservés todos los derechos reservados`.split(/\s+/),
)

const DENYING_NAME = /^(?:no|not|non|none|nobody|nothing|never|neither)$/
const TITLE = /^(?:dr|mr|mrs|ms|prof)$/

/** Whether a word is no subject of a restriction, or one that is a part of a name: technical, in a handle, or with a capital. */
function isHarmlessPart({ word, written }: Token, statement: string, name: string): boolean {
  if (!NAMING.test(word) || TECHNICAL.test(word)) return true
  if (name.includes(written) && (/^\p{Lu}/u.test(written) || name === written)) return true
  return isPartOfHandle(written, statement)
}
