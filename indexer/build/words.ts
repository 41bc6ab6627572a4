import { truncateCharacters } from '#core/text.ts'

/**
 * Text for listings: names, titles, descriptions. What a reader cannot see is dropped: control characters, bidirectional overrides,
 * tag characters, zero-width characters other than joiners between visible ones. The bytes of files are never changed.
 */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '').replace(CONTROL, ' ').trim()
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

// Soft hyphen, zero-width space, direction marks and overrides, word joiner and invisible operators, byte order mark, annotations, tags.
const INVISIBLE = /[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
const CONTROL = /(?![\n\t])\p{Cc}/gu
