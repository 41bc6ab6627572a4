import type { SkillFragment } from './contract/shared.ts'
import { SKILL_PAGE_BREAK_SHARE, SKILL_PAGE_BYTES } from './limits.ts'
import { countCharacters, cutAtBytes, sliceCharacters, utf8Length } from './text.ts'

/** One required text of a skill, in the order in which an agent reads them: rules, body, includes. */
export interface ContextPiece {
  kind: 'rule' | 'body' | 'include'
  path: string
  characters: number
  sizeBytes: number
  /** An estimate. */
  tokens: number
}

/** Start of a page. */
export interface ContextPosition {
  /** Index of the piece. */
  piece: number
  /** Length of the part of the piece on earlier pages, in characters and in bytes. */
  offsetCharacters: number
  offsetBytes: number
  /** Number of fragments of the piece on earlier pages. */
  fragment: number
}

export interface ContextCut {
  piece: ContextPiece
  content: string
  fragment: SkillFragment
}

/** Start of the first page. */
export const START: ContextPosition = { piece: 0, offsetCharacters: 0, offsetBytes: 0, fragment: 0 }

/**
 * Cuts one page of at most `pageBytes` of UTF-8. Never splits a character. A piece that does not end on the page is cut after the last
 * line break in the last `SKILL_PAGE_BREAK_SHARE` of the page; without one, at the limit.
 *
 * @param pieces those from `start.piece` on
 * @param texts the whole texts of the pieces
 * @returns `next`: start of the next page; `null` on the last one
 */
export function cutSkillContext(
  pieces: readonly ContextPiece[],
  texts: readonly string[],
  start: ContextPosition,
  pageBytes = SKILL_PAGE_BYTES,
): { cuts: ContextCut[]; next: ContextPosition | null } {
  const cuts: ContextCut[] = []
  let usedBytes = 0
  let { offsetCharacters, offsetBytes, fragment } = start
  for (const [number, piece] of pieces.entries()) {
    const text = sliceCharacters(texts[number] ?? '', offsetCharacters, piece.characters - offsetCharacters)
    const last = piece.sizeBytes - offsetBytes <= pageBytes - usedBytes
    const content = last ? text : cutAtLineBreak(text, usedBytes, pageBytes)
    const here: ContextPosition = { piece: start.piece + number, offsetCharacters, offsetBytes, fragment }
    if (!last && content === '') return { cuts, next: here }
    const length = countCharacters(content)
    const { characters: totalLength, sizeBytes: totalBytes, tokens: totalTokens } = piece
    cuts.push({
      piece,
      content,
      fragment: { index: fragment, offset: offsetCharacters, length, totalLength, totalBytes, totalTokens, last },
    })
    const bytes = utf8Length(content)
    if (!last) {
      return {
        cuts,
        next: {
          piece: here.piece,
          offsetCharacters: offsetCharacters + length,
          offsetBytes: offsetBytes + bytes,
          fragment: fragment + 1,
        },
      }
    }
    usedBytes += bytes
    offsetCharacters = offsetBytes = fragment = 0
  }
  return { cuts, next: null }
}

/** The pages that these texts take. @param texts the rules, body and includes of a skill, in order of delivery */
export function countPages(texts: readonly string[]): number {
  // Most skills fit.
  if (texts.reduce((bytes, text) => bytes + utf8Length(text), 0) <= SKILL_PAGE_BYTES) return 1
  const pieces = texts.map((text): ContextPiece => {
    return { kind: 'body', path: '', characters: countCharacters(text), sizeBytes: utf8Length(text), tokens: 0 }
  })
  let pages = 1
  let { next } = cutSkillContext(pieces, texts, START)
  for (; next !== null; pages++) next = cutSkillContext(pieces.slice(next.piece), texts.slice(next.piece), next).next
  return pages
}

/** The part of a text that fits on a page after `usedBytes`. */
function cutAtLineBreak(text: string, usedBytes: number, pageBytes: number): string {
  const fitting = cutAtBytes(text, pageBytes - usedBytes)
  const lines = fitting.slice(0, fitting.lastIndexOf('\n') + 1)
  return usedBytes + utf8Length(lines) > pageBytes * (1 - SKILL_PAGE_BREAK_SHARE) && lines !== '' ? lines : fitting
}
