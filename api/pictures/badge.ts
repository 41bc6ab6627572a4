import { INK, PAPER, RUBRIC } from './colours.ts'

/** What a badge says of a mount. */
export type BadgeState = { status: 'ready'; skills: number } | { status: 'indexing' } | { status: 'failed' }

const NAME = 'Mountglass'
const HEIGHT = 20
/** Space at the ends of a half. */
const MARGIN = 6
const SYMBOL_WIDTH = 12
const SYMBOL_GAP = 4

/** An SVG picture of 20 pixels: symbol and name of the service, and how many skills the address has. */
export function drawBadge(state: BadgeState): string {
  const words = wordsOf(state)
  const [nameWidth, wordsWidth] = [widthOf(NAME), widthOf(words)]
  const left = MARGIN + SYMBOL_WIDTH + SYMBOL_GAP + nameWidth + MARGIN
  const right = MARGIN + wordsWidth + MARGIN
  const width = round(left + right)
  const title = `${NAME}: ${words}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${width}" height="${HEIGHT}" fill="${INK}"/>`,
    `<rect x="${round(left)}" width="${round(right)}" height="${HEIGHT}" fill="${COLOURS[state.status]}"/></g>`,
    `<g fill="none" stroke="${PAPER}"><path d="M12 2v5M12 13v5" stroke-width="1.4"/><circle cx="12" cy="10" r="3.4" stroke-width="2"/></g>`,
    `<g fill="${WHITE}" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">`,
    textAt(round(MARGIN + SYMBOL_WIDTH + SYMBOL_GAP), nameWidth, NAME),
    textAt(round(left + MARGIN), wordsWidth, words),
    '</g></svg>',
    '',
  ].join('\n')
}

function wordsOf(state: BadgeState): string {
  switch (state.status) {
    case 'ready':
      return `${state.skills} ${state.skills === 1 ? 'skill' : 'skills'}`
    case 'indexing':
      return 'indexing'
    case 'failed':
      return 'unavailable'
  }
}

const WHITE = '#fff'

/** Of the half with the words. White text has a contrast of at least 6 on each. */
const COLOURS: Record<BadgeState['status'], string> = { ready: RUBRIC, indexing: '#7a5200', failed: '#5d554b' }

/** `textLength` makes a reader without Verdana fit its font into the measured width. */
function textAt(x: number, width: number, text: string): string {
  return `<text x="${x}" y="14" textLength="${round(width)}">${text}</text>`
}

/** Width of a text in Verdana of 11 pixels. */
function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (ADVANCES[character] ?? DIGIT), 0)
}

/** Advance widths of Verdana at 11 pixels: the characters that badges have. */
const DIGIT = 6.99
const ADVANCES: Readonly<Record<string, number>> = {
  ' ': 3.87,
  M: 9.27,
  a: 6.61,
  b: 6.85,
  d: 6.85,
  e: 6.55,
  g: 6.85,
  i: 3.02,
  k: 6.51,
  l: 3.02,
  n: 6.96,
  o: 6.68,
  s: 5.73,
  t: 4.33,
  u: 6.96,
  v: 6.51,
  x: 6.51,
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
