import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SUMMARY_CHARACTERS } from '#core/limits.ts'
import { analyze, isStopWord } from '#core/search/analyze.ts'
import { countCharacters } from '#core/text.ts'
import { bestPassage } from '../../../../api/search/passage/best-passage.ts'
import { markupOf, readableText } from '../../../../api/search/passage/readable-text.ts'

function termsOf(query: string): { term: string; weight: number }[] {
  const terms = new Set<string>()
  analyze(query, term => terms.add(term))
  return [...terms].map(term => ({ term, weight: isStopWord(term) ? 0.1 : 1 }))
}

function passageOf(query: string, text: string, path = 'guide.md'): string | null {
  return bestPassage(readableText(markupOf(path), text), termsOf(query))
}

const page = `---
title: Error handling
tags: [panic]
---
# Error handling

Most errors are not serious enough to stop the program.

## Recoverable errors {#recoverable}

Sometimes a function fails for a reason you can [easily interpret](https://example.com/secretpath). Return a \`Result<T, E>\` in that case.
The caller decides what to do with it, and **may retry** the call.

<!-- reviewers: mention backtraces here -->

| Option | Meaning |
|:-------|--------:|
| \`max_tokens\` | how many tokens an answer has |
| \`timeout\` | in seconds |

\`\`\`rust
# use std::fs;
fn read_config() -> Result<String, io::Error> {
    fs::read_to_string("config.toml")
}
\`\`\`

- [ ] Deployments need a reviewer.
- Roll back with one command.
`

describe('the best passage', () => {
  test.each<[query: string, passage: string]>([
    ['serious', 'Most errors are not serious enough to stop the program.'],
    ['return result', 'Return a Result<T, E> in that case. The caller decides what to do with it, and may retry the call.'],
    ['retry', 'The caller decides what to do with it, and may retry the call.'],
    ['max_tokens', 'Option · Meaning · max_tokens · how many tokens an answer has · timeout · in seconds'],
    ['token', 'Option · Meaning · max_tokens · how many tokens an answer has · timeout · in seconds'],
    ['read_config', 'fn read_config() -> Result<String, io::Error> { fs::read_to_string("config.toml") }'],
    ['deployment', 'Deployments need a reviewer. Roll back with one command.'],
  ])('for %j reads %j', (query, passage) => {
    expect(passageOf(query, page)).toContain(passage)
  })

  test.each(['panic', 'secretpath', 'backtraces', 'mention', 'unheard'])(
    'is null for %j, which is not in the visible text',
    query => {
      expect(passageOf(query, page)).toBeNull()
    },
  )

  test.each<[what: string, query: string, text: string, passage: string]>([
    [
      'Chinese',
      '错误处理',
      '# 错误处理\n\n本章介绍数据库。遇到问题时，错误处理非常重要。请看下文。',
      '遇到问题时，错误处理非常重要。请看下文。',
    ],
    ['Japanese', 'エラー処理', '# はじめに\n\nVue の紹介です。エラー処理の方法を説明します。', 'エラー処理の方法を説明します。'],
    ['half-width kana', 'ガイド', 'これは ｶﾞｲﾄﾞ です。', 'これは ガイド です。'],
    ['Thai', 'การติดตั้ง', '# คู่มือ\n\nการติดตั้งโปรแกรมทำได้ง่าย', 'การติดตั้งโปรแกรมทำได้ง่าย'],
    [
      'German, without umlauts',
      'prufung strasse',
      'Vorweg.\n\nDie Prüfung der Straße dauert lange.',
      'Die Prüfung der Straße dauert lange.',
    ],
    ['accents', 'cafe', 'Wir treffen uns im Café.', 'Wir treffen uns im Café.'],
    ['combining accents', 'café', 'Wir treffen uns im Cafe\u0301.', 'Wir treffen uns im Café.'],
    ['full-width letters', 'api', 'Ｔｈｅ ＡＰＩ ｉｓ here.', 'Ｔｈｅ ＡＰＩ ｉｓ here.'],
    ['ligatures', 'office ether', 'The oﬃce of æther.', 'The oﬃce of æther.'],
    ['plurals', 'policy cache', 'Policies and caches.', 'Policies and caches.'],
    ['plurals of short words', 'fly', 'Two flies.', 'Two flies.'],
    ['marks that no letter has', 'x\u0301', 'An X\u0301 here.', 'An X\u0301 here.'],
    ['squares', 'km', 'It is 5 ㎞ long.', 'It is 5 ㎞ long.'],
    ['parts of paths', 'retry', 'See docs/guides/retry-budget.md for more.', 'See docs/guides/retry-budget.md for more.'],
    ['parts of identifiers', 'user', 'Call getUserProfile() first.', 'Call getUserProfile() first.'],
    ['whole identifiers', 'getuserprofile', 'Call `getUserProfile()` first.', 'Call getUserProfile() first.'],
    ['languages', 'c++', 'Written in C++ by hand.', 'Written in C++ by hand.'],
    ['Cyrillic', 'Ошибка', 'Это ОШИБКА сети.', 'Это ОШИБКА сети.'],
  ])('is found as the analyzer reads %s', (_, query, text, passage) => {
    expect(passageOf(query, text)).toBe(passage)
  })

  test.each<[markdown: string, passage: string]>([
    ['*Deep* __deep__ ***deep*** word_with_marks', 'Deep deep deep word_with_marks'],
    ['deep 2 * 3 and a\\*b', 'deep 2 * 3 and a*b'],
    ['deep [link][ref] and [other] `a  [b](c) <d>`', 'deep link and [other] a [b](c) <d>'],
    ['deep ![picture](a.png) <b>bold</b><br>line <https://example.com>', 'deep bold line https://example.com'],
    ['deep [link]<!-- ignore -->, <!-- ignore --> then text', 'deep [link], then text'],
    ['> [!NOTE]\n> deep quote\n> goes on', 'deep quote goes on'],
    ['1. deep one\n2. [x] two', 'deep one · two'],
    ['deep [^1] note {#anchor}', 'deep note'],
    ['deep\u200b zero\u202e width\u0007 bell', 'deep zero width bell'],
    ['deep [[Page]] wiki', 'deep Page wiki'],
    ['deep\r\nlines\rhere', 'deep lines here'],
    ['deep <a title="a > b">tag</a> if a < b', 'deep tag if a < b'],
    ['[deep]: https://example.com\n\ndeep text', 'deep text'],
    ['<script>\nlet deep\n</script>\n\ndeep text', 'deep text'],
    [':::tip\ndeep text\n:::', 'deep text'],
  ])('of %j is %j', (markdown, passage) => {
    expect(passageOf('deep', markdown)).toBe(passage)
  })

  test('of reStructuredText has no roles, rules and comments', () => {
    const text =
      'Title\n=====\n\n.. deep comment\n   goes on deep\n\n.. note:: hint\n\nA :ref:`deep <target>` and ``literal`` `text <https://example.com>`_.\n\nMore\n----\n'
    expect(passageOf('deep', text, 'index.rst')).toBe('A deep and literal text.')
    expect(passageOf('comment', text, 'index.rst')).toBeNull()
  })

  test('of a text without markup keeps every character', () => {
    const text = '# read first\nCall __init__ with *args,\n  **kwargs and a <T>.\n\nMore: [x](y) &amp; z\n'
    expect(passageOf('args', text, 'notes.txt')).toBe(
      '# read first Call __init__ with *args, **kwargs and a <T>. More: [x](y) &amp; z',
    )
    expect(passageOf('read', text, 'notes.txt')).toContain('# read first')
  })

  test.each<[markdown: string, passage: string]>([
    ['## Deep\n\n```sh\nnpm ci\nnpm test\n```\n', 'Deep · npm ci npm test'],
    ['Deep copies:\n\n```js\nstructuredClone(it)\n```\n', 'Deep copies: structuredClone(it)'],
    ['## Deep\n\n| a | b |\n|---|---|\n| 1 | 2 |\n', 'Deep · a · b · 1 · 2'],
    [`Deep ${'words '.repeat(20)}end.\n\n\`\`\`\ncode\n\`\`\`\n`, `Deep ${'words '.repeat(20)}end.`],
  ])('of %j continues from a few words into code or a table: %j', (markdown, passage) => {
    expect(passageOf('deep', `# Title\n\n${markdown}`)).toBe(passage)
  })

  test('is not the title, which is shown beside it', () => {
    expect(passageOf('deployment', '# Deployment\n\nHow to ship.')).toBeNull()
    expect(passageOf('deployment', '# Deployment\n\nHow to ship.\n\n## Deployment steps\n\nPush.')).toBe(
      'Deployment steps · Push.',
    )
  })

  test('holds as many of the heavy terms as possible', () => {
    const text = `${'Retry is a word.\n\n'.repeat(30)}A budget limits how often clients retry.\n\n${'Retry again.\n\n'.repeat(30)}`
    expect(passageOf('retry budget', text)).toMatch(/^(?:Retry is a word\. )?A budget limits how often clients retry\./)
  })

  test('is prose rather than code, and code if only code has the terms', () => {
    const text = '```js\nloadPlugin(url)\n```\n\nThen load the plugin.\n'
    expect(passageOf('load plugin', text)).toBe('Then load the plugin.')
    expect(bestPassage(readableText('md', text), [{ term: 'loadplugin', weight: 1 }])).toBe('loadPlugin(url)')
  })

  test('contains stop words of the query only if the text has no other term', () => {
    expect(passageOf('the budget', 'The first line.\n\nOur budget.')).toContain('Our budget.')
    expect(passageOf('the budget', 'One.\n\nThe second line.')).toContain('The second line.')
  })

  test('has an ellipsis where it begins or ends inside a sentence', () => {
    const words = (word: string) => `${word} `.repeat(80)
    const passage = passageOf('needle', `${words('before')}needle ${words('after')}`) ?? ''
    expect(passage).toMatch(/^…before (?:before )+needle after .*after…$/)
    expect(countCharacters(passage)).toBeLessThanOrEqual(SUMMARY_CHARACTERS)
  })

  test('begins with a sentence where a long paragraph allows it', () => {
    const text = `${'Some words come first here. '.repeat(60)}The needle follows. ${'Others come behind. '.repeat(60)}`
    expect(passageOf('needle', text)).toMatch(/^The needle follows\. Others come behind\. .*behind\.$/)
  })

  test('does not split a grapheme', () => {
    const family = '👩‍👩‍👧'
    const passage = passageOf('needle', `needle ${family.repeat(100)}`) ?? ''
    expect(passage.endsWith(`${family}…`)).toBe(true)
    expect(passage.replaceAll(family, '')).toBe('needle …')
  })

  test('lies in the first 64 KiB', () => {
    expect(passageOf('needle', `${'hay\n'.repeat(20_000)}needle`)).toBeNull()
    expect(passageOf('needle', `${'hay\n'.repeat(16_000)}needle`)).toContain('needle')
  })

  test.each([
    ['brackets', `needle ${'['.repeat(65_536)}`],
    ['comments never closed', `needle ${'<!--'.repeat(16_384)}`],
    ['backticks', `needle ${'`'.repeat(65_536)}`],
    ['runs of backticks', `needle ${Array.from({ length: 350 }, (_, length) => '`'.repeat(length)).join(' ')}`],
    ['one line', `${'x '.repeat(30_000)}needle`],
    ['quote marks', `${'>'.repeat(60_000)} needle`],
    ['marks on one letter', `needle x${'\u0301'.repeat(65_536)}`],
    ['tags never closed', `needle ${'<a href="'.repeat(7_000)}`],
    ['unpaired surrogates', `needle ${'\ud800'.repeat(65_536)}`],
    ['carriage returns', `needle${'\r'.repeat(65_536)}`],
    ['places that are not seen', `${'[](needle)\n'.repeat(5_000)}needle`],
    ['a thousand sections', `${'## x\n'.repeat(10_000)}needle`],
  ])('stands in a text of %s too', (_, text) => {
    const passage = passageOf('needle', text) ?? ''
    expect(passage).toContain('needle')
    expect(countCharacters(passage)).toBeLessThanOrEqual(SUMMARY_CHARACTERS)
  })

  const fragment = fc.oneof(
    fc.constantFrom(
      ...[
        '# ',
        '## ',
        '- ',
        '1. ',
        '> ',
        '| ',
        '\n',
        '\n\n',
        '```\n',
        '`',
        '**',
        '_',
        '[',
        '](',
        ')',
        '![',
        '<b>',
        '<',
        '>',
        '. ',
        '。',
        '{#a}',
        '\\',
      ],
      ...[
        '---\n',
        '.. ',
        ':::',
        '\r',
        '\t',
        '\u202e',
        '\ud83d',
        '\udc69',
        '👩‍👧',
        '错误处理',
        'エラー',
        'การ',
        'Prüfung',
        'needle',
        'needles ',
        'maxTokens',
      ],
      ...['<!-- hushed -->', '<!--\nhushed\n-->', '\u0301', 'x'.repeat(300), ' word'.repeat(60), 'ß', 'ﬃ', 'ガ', 'ｶﾞ'],
    ),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  )
  const texts = fc.array(fragment, { maxLength: 60 }).map(parts => parts.join(''))
  const paths = fc.constantFrom('a.md', 'a.mdx', 'a.txt', 'a.rst')

  test('is short well-formed plain text that has a term, and no comment', () => {
    fc.assert(
      fc.property(paths, texts, (path, text) => {
        const terms = termsOf('needle max_tokens 错误处理 エラー การ prufung hushed')
        const readable = readableText(markupOf(path), text)
        const passage = bestPassage(readable, terms)
        expect(bestPassage(readable, [...terms])).toBe(passage)
        if (passage === null) return
        expect(countCharacters(passage)).toBeLessThanOrEqual(SUMMARY_CHARACTERS)
        expect(passage.isWellFormed()).toBe(true)
        expect(passage).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]|\s{2}|^\s|\s$/u)
        expect(passage).not.toContain('hushed')
        const found = new Set(termsOf(passage).map(({ term }) => term))
        expect(terms.some(({ term }) => found.has(term))).toBe(true)
      }),
      { numRuns: 400 },
    )
  })

  test('is found in plain words whenever the analyzer finds a term', () => {
    const word = fc.string({ unit: fc.constantFrom(...'aeéEÉsSyiouTnß0'), minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(), (words, choice) => {
        const sought = words[choice % words.length] ?? ''
        expect(passageOf(sought, words.join(' '))).not.toBeNull()
      }),
      { numRuns: 400 },
    )
  })
})
