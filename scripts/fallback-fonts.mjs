/**
 * `site/styles/fallback-fonts.css`: fonts of the reader's machine at the measures of IBM Plex. Text is set in them until a font has arrived, or for
 * good; with the same advance and the same height of a line, nothing moves when it does. `scripts/subset-fonts.mjs` writes the file.
 *
 * `size-adjust` is the quotient of the average advances; the ascent and the descent are those of Plex, divided by it, since it scales them too.
 */

/** In ems: how high and how deep IBM Plex is, Sans and Mono alike. It has no gap between lines. */
const PLEX = { ascent: 1.025, descent: 0.275 }

/**
 * Advances in ems. Of Mono each character has the same, so that the fallback has exactly its width. Of Sans it is the average of English text, weighted by
 * the frequency of its letters, as `@capsizecss/metrics` 4.3 gives it, or `@capsizecss/unpack` 4.0 measures it.
 */
const FAMILIES = [
  {
    name: 'Plex Sans',
    advance: { regular: 451 / 1000, bold: 467 / 1000 },
    fallbacks: [
      { regular: ['Segoe UI'], bold: ['Segoe UI Bold'], advance: { regular: 908 / 2048, bold: 975 / 2048 } },
      { regular: ['Roboto', 'Roboto Regular'], bold: ['Roboto Bold'], advance: { regular: 911 / 2048, bold: 926 / 2048 } },
      {
        regular: ['Arial', 'ArialMT', 'Liberation Sans', 'Arimo'],
        bold: ['Arial Bold', 'Arial-BoldMT', 'Liberation Sans Bold', 'Arimo Bold'],
        advance: { regular: 913 / 2048, bold: 983 / 2048 },
      },
      { regular: ['DejaVu Sans'], bold: ['DejaVu Sans Bold'], advance: { regular: 1041 / 2048, bold: 1176 / 2048 } },
    ],
  },
  {
    name: 'Plex Mono',
    advance: { regular: 600 / 1000, bold: 600 / 1000 },
    fallbacks: [
      {
        regular: ['Menlo', 'Menlo-Regular', 'DejaVu Sans Mono'],
        bold: ['Menlo Bold', 'Menlo-Bold', 'DejaVu Sans Mono Bold'],
        advance: { regular: 1233 / 2048, bold: 1233 / 2048 },
      },
      { regular: ['Consolas'], bold: ['Consolas Bold', 'Consolas-Bold'], advance: { regular: 1126 / 2048, bold: 1126 / 2048 } },
      {
        regular: ['Roboto Mono', 'Droid Sans Mono', 'Liberation Mono', 'Courier New'],
        bold: ['Roboto Mono Bold', 'Droid Sans Mono', 'Liberation Mono Bold', 'Courier New Bold'],
        advance: { regular: 1229 / 2048, bold: 1229 / 2048 },
      },
    ],
  },
]

const WEIGHTS = /** @type {const} */ (['regular', 'bold'])

/** `site/styles/tokens.css` names the families: `Plex Sans 1`, `Plex Sans 2`. */
export const FALLBACK_CSS = [
  '/* Written by scripts/subset-fonts.mjs; scripts/fallback-fonts.mjs says how. */\n',
  ...FAMILIES.flatMap(({ name, advance, fallbacks }) =>
    fallbacks.flatMap((fallback, index) =>
      WEIGHTS.map(weight => face(`${name} ${index + 1}`, weight, fallback[weight], advance[weight] / fallback.advance[weight])),
    ),
  ),
].join('\n')

/**
 * @param {string} family
 * @param {'regular' | 'bold'} weight
 * @param {readonly string[]} locals names of one font, as platforms spell it
 * @param {number} size
 */
function face(family, weight, locals, size) {
  const [ascent, descent] = [PLEX.ascent / size, PLEX.descent / size]
  return `@font-face {
  font-family: "${family}";
  font-weight: ${weight === 'bold' ? '600 700' : '400 500'};
  src: ${locals.map(local => `local("${local}")`).join(', ')};
  size-adjust: ${percent(size)};
  ascent-override: ${percent(ascent)};
  descent-override: ${percent(descent)};
  line-gap-override: 0%;
}
`
}

/** @param {number} value */
function percent(value) {
  return `${Number((value * 100).toFixed(3))}%`
}
