/**
 * Repository text may hold characters that a reader does not see but an agent receives: controls, direction overrides, zero-width
 * characters, tags. These functions keep every character and make it visible.
 */

// Line feed and tab are layout, and so is a carriage return before a line feed.
const HIDDEN = /\r(?!\n)|(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|[\ufff9-\ufffb]/gu

/** The text as HTML: escaped, with a visible mark around every hidden character, which stays inside it. */
export function markHidden(text: string): string {
  let html = ''
  let from = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (isOrdinary(text, match.index, match[0])) continue
    html += escapeHtml(text.slice(from, match.index)) + mark(match[0])
    from = match.index + match[0].length
  }
  return html + escapeHtml(text.slice(from))
}

/** The text for places without markup (titles, attributes): hidden characters are replaced by their number. */
export function spellHidden(text: string): string {
  return text.replace(HIDDEN, (character, index: number) =>
    isOrdinary(text, index, character) ? character : `[${codeOf(character)}]`,
  )
}

export function countHidden(text: string): number {
  return [...text.matchAll(HIDDEN)].filter(match => !isOrdinary(text, match.index, match[0])).length
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

// `bdi` contains a direction override even where no stylesheet is loaded.
function mark(character: string): string {
  const code = codeOf(character)
  const inside = character === '\0' ? '' : character === '\r' ? '&#13;' : character
  return `<bdi class="hidden-character" data-code="${code}" title="invisible character ${code}">${inside}</bdi>`
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Joiners and variation selectors belong to ordinary writing in some places: emoji, and scripts that join their letters. */
function isOrdinary(text: string, index: number, character: string): boolean {
  if (!/\u200c|\u200d|\p{Variation_Selector}/u.test(character)) return false
  const before = text.slice(Math.max(0, index - 2), index)
  const after = text.slice(index + character.length, index + character.length + 2)
  if (character === '\u200d' && EMOJI_AT_END.test(before) && /^\p{Extended_Pictographic}/u.test(after)) return true
  if (character === '\u200c' || character === '\u200d') return JOINING_AT_END.test(before)
  if (character === '\ufe0f' || character === '\ufe0e') return /[\p{Emoji}\p{Emoji_Component}\p{S}]$/u.test(before)
  return /[\p{Script=Han}\p{Script=Mongolian}]$/u.test(before)
}

const EMOJI_AT_END = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u
const JOINING_AT_END =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]$/u
