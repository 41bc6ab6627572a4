import { describe, expect, test } from 'vitest'
import { inOneLine } from '#api/mcp/answer-text.ts'
import { estimateTokens } from '#core/estimate-tokens.ts'

test.each([
  ['English', 'Use this skill when the user asks to create, edit or analyse documents. '],
  ['Chinese', '当用户要求创建、编辑或分析文档、电子表格和演示文稿时，请使用此技能。'],
  ['Tibetan', 'བོད་ཡིག་གི་ཡིག་ཆ་བཟོ་བ་དང་རྩོམ་སྒྲིག་བྱེད་པར་སྤྱོད་པ།'],
  ['emoji', '🎻🎉🚀🔥👍🏽👨‍👩‍👧‍👦🇩🇪✨🧪📦'],
])('a text in %s is cut to its number of tokens', (_, sentence) => {
  const text = sentence.repeat(20)
  const cut = inOneLine(text, 100)
  expect(estimateTokens(cut)).toBeLessThanOrEqual(100)
  expect(estimateTokens(cut)).toBeGreaterThan(85)
  expect(cut.endsWith('…')).toBe(true)
  expect(text.startsWith(cut.slice(0, -1))).toBe(true)
})

describe('a line', () => {
  test('that fits is unchanged, with its white space joined', () => {
    expect(inOneLine('  One\n\ttwo. ', 10)).toBe('One two.')
  })

  test('is cut at a word', () => {
    expect(inOneLine('one two three four five six seven', 5)).toBe('one two three…')
  })

  test.each([
    ['an accent', 'e\u0301'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a skin tone', '👍🏽'],
    ['a flag', '🇩🇪'],
    ['a vowel sign', 'का'],
  ])('is not cut within a character with %s', (_, character) => {
    for (let tokens = 2; tokens < 40; tokens++) {
      const cut = inOneLine(character.repeat(100), tokens)
      expect(cut).toBe(`${character.repeat((cut.length - 1) / character.length)}…`)
    }
  })
})
