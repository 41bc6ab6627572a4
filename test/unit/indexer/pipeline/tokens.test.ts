import fc from 'fast-check'
import vocabulary from 'gpt-tokenizer/bpeRanks/o200k_base'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTokenCounter, loadTokenizer, type Tokenizer } from '#indexer/pipeline/tokens.ts'

let tokenizer: Tokenizer
beforeAll(async () => {
  tokenizer = await loadTokenizer()
})

test.each([
  ['', 0],
  ['hello world', 2],
  ['Grüße aus Köln', 5],
  ['<|endoftext|> is a word like others', 12],
])('%j is counted as %d tokens of o200k_base', (text, tokens) => {
  expect(tokenizer.count(text)).toBe(tokens)
})

test('text with ordinary words is counted as one piece, whatever its length', () => {
  const sentence = 'The quick brown fox jumps over the lazy dog. '
  expect(tokenizer.count(sentence.repeat(1_000))).toBe(10_001)
})

test.each([
  ['a letter', 'a'],
  ['spaces', ' '],
  ['signs', '=-'],
  ['a picture', '🎻'],
  ['a word without an end', 'Donaudampfschiff'],
])('a mebibyte of %s is counted in the end', (_what, run) => {
  const text = run.repeat(1_048_576 / Buffer.byteLength(run))
  expect(tokenizer.count(text)).toBeGreaterThan(1_000)
})

describe('text without spaces has the tokens that the whole of it has', () => {
  const countWhole = (text: string) => countTokens(text, { disallowedSpecial: new Set() })

  test.each([
    ['Chinese', '当用户请求处理文档时，先阅读规则；然后运行测试并检查结果。错误必须清楚地报告，不要猜测。'],
    ['Japanese', 'エージェントはリポジトリからスキルを読み込みます。プロジェクトのルールに従ってテストを実行してください。'],
    ['Korean', '에이전트는저장소에서스킬을읽고규칙을따릅니다. 테스트를 실행하고 결과를 확인하십시오.'],
    [
      'Chinese among signs, digits and Latin letters',
      '使用`npm test`运行测试（第2步），see中文Guide里的API、A文B和「引号」🚀发布v1.2版本！\r\n—— 完。',
    ],
    ['kana with marks and sounds that are letters of their own', 'か゛がガーデン・ヽヾ々〇〆ヶゟヿㇰﾊﾟ'],
  ])('%s', (_what, text) => {
    expect(tokenizer.count(text)).toBe(countWhole(text))
  })

  test('letters in any order, of tokens and of none', () => {
    const letter = fc.oneof(
      fc.constantFrom(...lettersOfTokens()),
      fc.integer({ min: 0x3041, max: 0xd7a3 }).map(unit => String.fromCharCode(unit)),
    )
    const between = fc.constantFrom('，', ' ', '\n', 'a', 'Ab', '1', '、', "'s", 'é', '🚀')
    const part = fc.oneof({ weight: 6, arbitrary: letter }, { weight: 1, arbitrary: between })
    const text = fc.array(part, { maxLength: 60 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(text, given => {
        expect(tokenizer.count(given)).toBe(countWhole(given))
      }),
      { numRuns: 3_000 },
    )
  })

  /** Pieces of one or two letters of every token: so two that follow each other are often in one token. */
  function lettersOfTokens(): string[] {
    return vocabulary.flatMap(token => (typeof token === 'string' ? (token.match(/[\u3041-\ud7a3]{1,2}/g) ?? []) : []))
  }
})

test('a long run is cut wherever it begins', () => {
  const words = Array.from({ length: 130 }, (_, at) => 'a bc def '.repeat(at)).concat(
    Array.from({ length: 9 }, (_, at) => ' '.repeat(at)),
  )
  for (const before of words) {
    const long = `${before}${'x'.repeat(511)}hello`
    expect(tokenizer.count(long)).toBe(tokenizer.count(long.slice(0, -4)) + tokenizer.count('ello'))
  }
})

test('of a very long text the beginning is counted, and the rest is taken to be like it', () => {
  const sentence = 'The quick brown fox jumps over the lazy dog. '
  const times = 20_000
  const whole = tokenizer.count(sentence.repeat(times))
  expect(Math.abs(whole - 10 * times)).toBeLessThan(times / 50)
})

test('a text is counted once, and one that an earlier snapshot counted is not counted again', async () => {
  const first = createTokenCounter(new Map())
  expect([await first.count('hello world'), await first.count('hello world')]).toEqual([2, 2])
  expect([...first.counts.values()]).toEqual([2])
  const [key = ''] = first.counts.keys()
  const next = createTokenCounter(new Map([[key, 17]]))
  expect(await next.count('hello world')).toBe(17)
  expect([...next.counts]).toEqual([[key, 17]])
})
