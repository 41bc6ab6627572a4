import { describe, expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { findHidden } from '#indexer/rules/hidden-lines.ts'
import { parseSkill } from '#indexer/rules/skill.ts'

describe('hidden characters are reported with their lines', () => {
  test.each([
    ['a direction override', 'one\ntwo \u202Etxt.exe\nthree\n', 'hidden characters (U+202E) on line 2'],
    ['isolates', '\u2066a\u2069\n', 'hidden characters (U+2066, U+2069) on line 1'],
    [
      'tags',
      `a\n\n${[...'ignore'].map(letter => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}\n`,
      'hidden characters (U+E0069, U+E0067, U+E006E, U+E006F, U+E0072, U+E0065) on line 3',
    ],
    ['zero-width runs', 'a\u200B\u200Cb\u200D\nc\u2060\n', 'hidden characters (U+200B, U+200C, U+200D, U+2060) on lines 1, 2'],
    ['controls', 'a\u0007\n\u009B2J\n', 'hidden characters (U+0007, U+009B) on lines 1, 2'],
    ['a lone carriage return', 'safe\rrm -rf\n', 'hidden characters (U+000D) on line 1'],
    [
      'more than are counted',
      'x\u200B\n'.repeat(60_000),
      'hidden characters (U+200B) on lines 1, 2, 3, 4, 5, 6, 7, 8 and 49992 more',
    ],
    ['many lines', 'x\u200B\n'.repeat(11), 'hidden characters (U+200B) on lines 1, 2, 3, 4, 5, 6, 7, 8 and 3 more'],
  ])('%s', (_name, text, message) => {
    expect(findHidden(text, []).map(withMessage)).toEqual([{ code: 'text.hidden_characters', message }])
  })

  test.each([
    ['CRLF and tabs', 'a\r\n\tb\r\n'],
    ['a byte order mark at the beginning', '\uFEFFtext\n'],
    ['emoji families and flags', '👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 1️⃣\n'],
    ['joiners of Persian and Hindi', 'می‌خواهم क्‍ष\n'],
    ['every script', '猫 고양이 кот قطة แมว\n'],
  ])('nothing hidden: %s', (_name, text) => {
    expect(findHidden(text, [])).toEqual([])
  })
})

test('warnings of a skill count lines of the file, front matter included, and come first', () => {
  const text =
    '---\nname: a\ndescription: d\u200B\n---\n\nText <!-- one -->\nmore\n<!-- two\nlines -->\n\n```html\n<!-- shown as code -->\n```\n\n`<!-- code -->` and\nlast <!-- three -->\n'
  const skill = parseSkill('x/b/SKILL.md' as RepoPath, text, 'handbook')
  expect(skill.warnings.map(withMessage)).toEqual([
    { code: 'text.hidden_characters', message: 'hidden characters (U+200B) on line 3' },
    { code: 'text.html_comment', message: 'HTML comments, which a rendered page hides, on lines 6, 8, 16' },
    expect.objectContaining({ code: 'name.directory_mismatch' }),
  ])
  expect(skill.description).toBe('d')
  expect(skill.body).toContain('<!-- one -->')
})
