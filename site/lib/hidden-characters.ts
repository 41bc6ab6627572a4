import { codePointName, hiddenCharacters } from '#core/hidden-text.ts'

/* Repository text for a page: hidden characters are kept and made visible. */

/** How many characters get a full mark, which takes a hundred characters itself: a few, and one in so many. */
const FULL_MARKS = { least: 20, oneIn: 50 }

/**
 * The text as HTML: escaped, with a visible mark around every hidden character, which stays inside it. In a text with very many of them,
 * the later ones are only spelled, as `spellHidden` does.
 */
export function markHidden(text: string): string {
  return markHiddenInHtml(escapeHtml(text))
}

/** `markHidden` of HTML whose tags contain no hidden characters. */
export function markHiddenInHtml(html: string): string {
  let marked = ''
  let from = 0
  let left = FULL_MARKS.least + html.length / FULL_MARKS.oneIn
  for (const { index, character } of hiddenCharacters(html)) {
    marked += html.slice(from, index) + (left-- >= 1 ? mark(character) : spell(character))
    from = index + character.length
  }
  return marked + html.slice(from)
}

/** The text for places without markup (titles, attributes): hidden characters are replaced by their number. */
export function spellHidden(text: string): string {
  let spelt = ''
  let from = 0
  for (const { index, character } of hiddenCharacters(text)) {
    spelt += text.slice(from, index) + spell(character)
    from = index + character.length
  }
  return spelt + text.slice(from)
}

export function countHidden(text: string): number {
  let count = 0
  for (const _ of hiddenCharacters(text)) count++
  return count
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

function spell(character: string): string {
  return `[${codePointName(character)}]`
}

// `bdi` contains a direction override even where no stylesheet is loaded.
function mark(character: string): string {
  const code = codePointName(character)
  const inside = character === '\0' ? '' : character === '\r' ? '&#13;' : character
  return `<bdi class="hidden-character" data-code="${code}" title="${code}">${inside}</bdi>`
}
