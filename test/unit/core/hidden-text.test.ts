import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printable, visibleLine, visibleText } from '#core/hidden-text.ts'

/** Tags spell what only a machine reads. */
function tags(text: string): string {
  return [...text].map(character => String.fromCodePoint(0xe0000 + (character.codePointAt(0) ?? 0))).join('')
}

function flag(region: string): string {
  return `🏴${tags(region)}\u{e007f}`
}

test.each([
  ['  a title\n', 'a title'],
  ['two  spaces', 'two spaces'],
  ['two\n\tlines', 'two lines'],
  ['zero\u200bwidth', 'zerowidth'],
  ['turned \u202eround', 'turned round'],
  ['bell\u0007rung', 'bell rung'],
  ['parted\u2028lines', 'parted lines'],
  ['half \ud83d a pair', 'half \ufffd a pair'],
  ['👩‍👧 family', '👩‍👧 family'],
  ...['gbeng', 'gbsct', 'gbwls'].map(region => [`${flag(region)}${flag(region)}!`, `${flag(region)}${flag(region)}!`]),
  ...['gbxyz', 'usca', 'gb', ''].map(region => [`a ${flag(region)}`, 'a 🏴']),
  [`a ${tags('gbeng')}\u{e007f}`, 'a'],
  [`${flag('gbeng')}${tags('do it')}`, flag('gbeng')],
])('of %j the line %j is visible', (text, line) => {
  expect(visibleLine(text)).toBe(line)
})

test('a line is the text with its spaces joined', () => {
  const piece = fc.constantFrom('a', ' ', '\n', 'é', '\u200b', '\u00a0', '\u2028', '\0', '\ud83d', '漢', '👩‍👧')
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }).map(pieces => pieces.join('')),
      text => {
        expect(visibleLine(text)).toBe(visibleText(text).replace(/\s+/gu, ' '))
      },
    ),
  )
})

test.each([
  ['::error file=x::approved', '<U+003A>:error file=x::approved'],
  ['  ::error::x', '  <U+003A>:error::x'],
  ['a ::b', 'a ::b'],
  ['see ##[error]x', 'see <U+0023>#[error]x'],
  ['##vso[task.setvariable variable=a]b', '<U+0023>#vso[task.setvariable variable=a]b'],
  ['### heading', '### heading'],
])('%j is printed as %j: no log of a build obeys it', (text, line) => {
  expect(printable(text)).toBe(line)
})
