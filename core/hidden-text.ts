/**
 * A character that an agent receives but a reader does not see: controls, direction overrides, zero-width characters, tags.
 * Files keep them; pages mark them, listings omit them, warnings report them.
 */
export interface HiddenCharacter {
  /** In UTF-16 units. */
  index: number
  character: string
}

/** The hidden characters of a text, in order. Line feeds, tabs and CRLF are layout, not hidden. */
export function hiddenCharacters(text: string): Iterable<HiddenCharacter> {
  return MAY_BE_HIDDEN.test(text) ? findHidden(text) : NONE
}

const NONE: readonly HiddenCharacter[] = []

function* findHidden(text: string): Generator<HiddenCharacter> {
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (!isOrdinary(text, index, character)) yield { index, character }
  }
}

/** The text without hidden characters. A control character or line separator becomes a space. */
export function visibleText(text: string): string {
  let visible = ''
  let from = 0
  for (const { index, character } of hiddenCharacters(text)) {
    visible += text.slice(from, index) + (/[\p{Cc}\p{Z}]/u.test(character) ? ' ' : '')
    from = index + character.length
  }
  return (visible + text.slice(from)).toWellFormed().trim()
}

/** `visibleText` on one line. */
export function visibleLine(text: string): string {
  return MAY_CHANGE.test(text) ? visibleText(text).replace(/\s+/gu, ' ') : text.trim()
}

/**
 * Text of a repository on one line of a terminal or a log, with hidden characters as `<U+…>`. So is what would begin a command to the system
 * whose log it is: GitHub's runners obey lines that begin with `::`, and those of other systems `##vso[` and its like.
 */
export function printable(text: string): string {
  const line = replaceHidden(text.replace(/[\t\r\n]+/g, ' '), spelled)
  return line.replace(LOG_COMMANDS, ([first = '']) => spelled(first))
}

/** The first character of each. */
const LOG_COMMANDS = /(?<=^ *):(?=:)|#(?=#[a-z]{0,10}\[)/gi

/** Whether a log that has the text may be obeyed. */
export function isLogCommand(text: string): boolean {
  return text.search(LOG_COMMANDS) >= 0
}

function spelled(character: string): string {
  return `<${codePointName(character)}>`
}

/** Text of a repository on a terminal, line by line, with hidden characters as `<U+…>`. */
export function visibleSource(text: string): string {
  return replaceHidden(text, spelled)
}

/** JSON with hidden characters escaped, which is the same JSON. */
export function escapeHidden(json: string): string {
  const spelled = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return replaceHidden(json, hidden => hidden.split('').map(spelled).join(''))
}

function replaceHidden(text: string, replace: (character: string) => string): string {
  let shown = ''
  let from = 0
  for (const { index, character } of hiddenCharacters(text)) {
    shown += text.slice(from, index) + replace(character)
    from = index + character.length
  }
  return shown + text.slice(from)
}

/** Matches consecutive spaces, and every character outside the ranges that are surely visible. */
const MAY_CHANGE =
  /[^\x20-\x7e\xa1-\xac\xae-\u034e\u0370-\u0560\u0900-\u109f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u3001-\u3163\u3165-\ud7ff]| {2}/

/** `U+202E` */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Most texts have none of these. It is found out in a fraction of the time of `HIDDEN`. */
const MAY_BE_HIDDEN = /[^\t\n\x20-\x7e]/
const HIDDEN = /\r(?!\n)|(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|[\ufff9-\ufffb]/gu

/** Joiners and variation selectors are ordinary in emoji and in scripts that join letters, and tags in the flags that Unicode has of them. */
function isOrdinary(text: string, index: number, character: string): boolean {
  if (TAG.test(character)) return isInFlag(text, index)
  if (!/\u200c|\u200d|\p{Variation_Selector}/u.test(character)) return false
  const before = text.slice(Math.max(0, index - 2), index)
  const after = text.slice(index + character.length, index + character.length + 2)
  if (character === '\u200d' && EMOJI_AT_END.test(before) && /^\p{Extended_Pictographic}/u.test(after)) return true
  if (character === '\u200c' || character === '\u200d') return JOINING_AT_END.test(before)
  if (character === '\ufe0f' || character === '\ufe0e') return /[\p{Emoji}\p{Emoji_Component}\p{S}]$/u.test(before)
  return /[\p{Script=Han}\p{Script=Mongolian}]$/u.test(before)
}

const TAG = /[\u{e0020}-\u{e007f}]/u
/** England, Scotland and Wales: every other sequence of tags is no flag, and may spell what nobody sees. */
const FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/u
/** UTF-16 units of a flag, and of what stands before its last tag. */
const FLAG_UNITS = { all: 14, beforeLast: 12 }

function isInFlag(text: string, index: number): boolean {
  const from = Math.max(0, index - FLAG_UNITS.beforeLast)
  const { index: at = -1 } = FLAG.exec(text.slice(from, index + FLAG_UNITS.beforeLast)) ?? {}
  return at >= 0 && from + at < index && index < from + at + FLAG_UNITS.all
}

const EMOJI_AT_END = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u
const JOINING_AT_END =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]$/u
