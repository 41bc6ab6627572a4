import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { Analyzer, analyze, isStopWord, singular, TERM_UNITS } from '#core/search/analyze.ts'

function terms(text: string): string[] {
  const found: string[] = []
  analyze(text, term => found.push(term))
  return found
}

function kinds(text: string): [string, string, number][] {
  const found: [string, string, number][] = []
  analyze(text, (term, kind, group) => found.push([term, kind, group]))
  return found
}

describe('terms', () => {
  test.each([
    ['Read the Docs', ['read', 'the', 'doc']],
    ['Über naïve ﬁne Straße', ['uber', 'naive', 'fine', 'strass']],
    ['ＡＢＣ １２', ['abc', '12']],
    ['max_tokens', ['max', 'token', 'max_tokens']],
    ['getUserProfile', ['get', 'user', 'profile', 'getuserprofile']],
    ['HTTPServer APIs 4K base64Encode', ['http', 'server', 'httpserver', 'api', '4k', 'base64', 'encode', 'base64encode']],
    ['client.max_tokens', ['client', 'max', 'token', 'max_tokens', 'client.max_tokens']],
    ['--dry-run', ['dry', 'run', 'dry-run']],
    ['std::vector', ['std', 'vector', 'std::vector']],
    ['a:b', ['a', 'b']],
    ['docs/guide.md', ['doc', 'guide', 'md', 'docs/guide.md']],
    ['v1.2.3', ['v1', '2', '3', 'v1.2.3']],
    ['_private_ end.', ['private', 'end']],
    ['C++ c++17 C# F#, C #1', ['c++', 'c++', '17', 'c#', 'f#', 'c', '1']],
    ['データを', ['デー', 'ータ', 'タを']],
    ['ﾃﾞｰﾀ', ['デー', 'ータ']],
    [
      "don't it's we'll you’re O'Brien 'quoted' rock'n'roll",
      ['don', 'it', 'we', 'you', 'o', 'brien', 'quoted', 'rock', 'n', 'roll'],
    ],
    ['PRs, IDs and VMs; prs AWS', ['pr', 'id', 'and', 'vm', 'prs', 'aws']],
    ['書', ['書']],
    ['Vueの活用', ['vue', 'の活', '活用']],
    ['𠮷野家', ['𠮷野', '野家']],
    ['한국어', ['한국', '국어']],
    ['ไทย', ['ไท', 'ทย']],
    ['ລາວ', ['ລາ', 'າວ']],
    ['ខ្មែរ', ['ខ្', '្ម', 'មែ', 'ែរ']],
    ['မြန်', ['မြ', 'ြန', 'န်']],
    ['コード・例ー', ['コー', 'ード', '例ー']],
    ['“ 、。👍🏽️ \ud800 — ', []],
  ])('%j', (text, expected) => {
    expect(terms(text)).toEqual(expected)
  })

  test('the terms of one identifier, and of one run of characters, share a group', () => {
    expect(kinds('set maxTokens を渡す')).toEqual([
      ['set', 'word', 0],
      ['max', 'part', 1],
      ['token', 'part', 1],
      ['maxtoken', 'whole', 1],
      ['を渡', 'pair', 2],
      ['渡す', 'pair', 2],
    ])
  })

  test('triples follow their second pair, on request', () => {
    const found: [string, string, number][] = []
    analyze('算出プx 漢字', (term, kind, group) => found.push([term, kind, group]), { triples: true })
    expect(found).toEqual([
      ['算出', 'pair', 0],
      ['出プ', 'pair', 0],
      ['算出プ', 'triple', 0],
      ['x', 'word', 1],
      ['漢字', 'pair', 2],
    ])
  })

  test('common words are known in the form that terms have', () => {
    expect(terms('this does the was your').every(isStopWord)).toBe(true)
    expect(isStopWord('token')).toBe(false)
  })
})

describe('plurals', () => {
  test.each([
    ['tables', 'table'],
    ['classes', 'class'],
    ['boxes', 'box'],
    ['caches', 'cache'],
    ['branches', 'branch'],
    ['queries', 'query'],
    ['cookies', 'cookie'],
    ['movies', 'movie'],
    ['heroes', 'hero'],
    ['statuses', 'status'],
    ['uses', 'use'],
    ['APIs'.toLowerCase(), 'api'],
  ])('%s and %s are one term', (plural, word) => {
    expect(singular(plural)).toBe(singular(word))
  })

  test.each(['status', 'analysis', 'class', 'css', 'us', 'éàés', 'v2s1'])('%s is no plural', word => {
    expect(singular(word)).toBe(word)
  })
})

describe('any text', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.constantFrom('aB', 'C', '+', '#', '_', '-', '.', '/', '::', ' ', '漢', 'か', 'é', '\u0301', '𠮷', '7', 's'))
      .map(parts => parts.join('')),
  )

  test('gives the same terms in any Unicode form, and with other lines around it', () => {
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        expect(terms(`${left}\n${right}`)).toEqual([...terms(left), ...terms(right)])
        expect(terms(left.normalize('NFKD'))).toEqual(terms(left.normalize('NFKC')))
      }),
    )
  })

  test('gives the same terms for cached words and for evicted ones', () => {
    const texts = ['getUserName of PRs', 'snake_case of std::vector', ...Array.from({ length: 40_000 }, (_, at) => `Word${at}`)]
    const made = new Map<string, number>()
    const analyzer = new Analyzer(text => {
      made.set(text, (made.get(text) ?? 0) + 1)
      return text
    })
    const found = (text: string) => {
      const seen: string[] = []
      analyzer.analyze(text, (term, kind, group) => seen.push(`${term} ${kind} ${group}`))
      return seen
    }
    const first = texts.map(found)
    expect(texts.map(found)).toEqual(first)
    expect(found('of of of')).toEqual(['of word 0', 'of word 1', 'of word 2'])
    // Once for each time that it was forgotten, not for each of its seven occurrences.
    expect(made.get('of')).toBe(3)
  })

  test('gives terms that are well-formed, bounded and never empty', () => {
    fc.assert(
      fc.property(anyText, text => {
        for (const term of terms(text)) {
          expect(term.isWellFormed()).toBe(true)
          expect(term.length).toBeGreaterThan(0)
          expect(term.length).toBeLessThanOrEqual(2 * TERM_UNITS)
        }
      }),
    )
  })

  // Each of these would take minutes where time is not linear.
  test.each([
    ['one word', 'a', 1],
    ['one identifier', 'a.', SEARCHED_FILE_BYTES / 2],
    ['one camel', 'aB', 1],
    ['joints', '::', 0],
    ['signs', '_', 0],
    ['marks of falling class', 'x\u0301\u0316', SEARCHED_FILE_BYTES / 4 - 1],
    ['marks and half-width marks', '\u0301ﾞ', 1],
    ['ideographs', '漢', SEARCHED_FILE_BYTES / 4 - 1],
    ['languages', 'c++', Math.floor(SEARCHED_FILE_BYTES / 3)],
  ])('a line of 256 KiB that is %s', (_name, unit, atMost) => {
    const line = unit.repeat(
      Math.floor(SEARCHED_FILE_BYTES / Math.max(unit.length, Buffer.byteLength(unit) > unit.length ? 4 : 1)),
    )
    expect(terms(line).length).toBeLessThanOrEqual(Math.max(atMost, 1))
  })
})
