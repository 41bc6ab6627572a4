import { hiddenCharacters } from '#core/hidden-text.ts'
import { truncateCharacters } from '#core/text.ts'

/** Text for listings: names, titles, descriptions. What a reader cannot see is left out; a control character parts words. */
export function visibleText(text: string): string {
  let visible = ''
  let from = 0
  for (const { index, character } of hiddenCharacters(text)) {
    visible += text.slice(from, index) + (/\p{Cc}/u.test(character) ? ' ' : '')
    from = index + character.length
  }
  return (visible + text.slice(from)).trim()
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/\s+/gu, ' ')
}

/** One visible line of at most `limit` characters, cut at a word border where one is near. */
export function shortLine(text: string, limit: number): string {
  const line = visibleLine(text)
  const cut = truncateCharacters(line, limit)
  if (cut === line) return line
  const space = cut.lastIndexOf(' ')
  return space > cut.length * 0.7 ? `${cut.slice(0, space).replace(/[\s,;:.–-]+$/u, '')}…` : cut
}
