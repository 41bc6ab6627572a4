import { visibleLine } from '#core/hidden-text.ts'
import { truncateCharacters, withoutTrailing } from '#core/text.ts'

/** One visible line of at most `limit` characters, cut at a word border where one is near. */
export function shortLine(text: string, limit: number): string {
  const line = visibleLine(text)
  const cut = truncateCharacters(line, limit)
  if (cut === line) return line
  const space = cut.lastIndexOf(' ')
  return space > cut.length * 0.7 ? `${withoutTrailing(cut.slice(0, space), /[\s,;:.–-]/)}…` : cut
}
