/*
 * Queries that no reader of a handbook types, over a socket: each is refused with a code, or answered like any other.
 */
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIND_QUERY_CHARACTERS } from '#core/limits.ts'
import { checkAnswer } from '#test/support/check-answer.ts'
import { mistyped } from '#test/support/mistyped.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'

const FIND = '/api/v1/find/local/acme/handbook'

let app: TestApp
let port: number
let commit: string
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'docs/what-is-it.md': '# What is it?\n\nThe answer.\n',
      'docs/garden.md': '# Garden\n\nTulips AND roses, near "old" walls (or not): a|b, field:value, *.md and ../etc.\n',
      'docs/cpp.md': '# C++ and C#\n\nHow to write them.\n',
      'docs/庭.md': '# 庭に水をやる\n\n毎朝、花に水をやる。\n',
      'skills/garden/SKILL.md': skillText('garden', 'Plant tulips.\n'),
      ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`list/${at}.md`, `# Bread ${at}\n\nBread, baked.\n`])),
    },
    'acme/other': { LICENSE: MIT, 'list/a.md': '# Bread\n', 'list/b.md': '# Bread\n' },
  })
  await app.open('/local/acme/handbook')
  await app.open('/local/acme/other')
  commit = app.commitOf('acme/handbook')
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

/** The answer to a target that is sent as it is, checked against the contract. */
async function send(target: string) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: target, agent: false }, resolve).on('error', reject).end()
  })
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  const { json } = checkAnswer(target, 'GET', {
    status: answer.statusCode ?? 0,
    headers: answer.headers as Record<string, string>,
    body: Buffer.concat(chunks).toString(),
  })
  return { status: answer.statusCode, code: json.error?.code as string | undefined, message: json.error?.message, json }
}

const find = (query: string, more = '') => send(`${FIND}?query=${encodeURIComponent(query)}${more}`)

async function pathsOf(query: string): Promise<string[]> {
  const { status, json } = await find(query)
  expect(status).toBe(200)
  expect(json).toMatchObject({ status: 'ready', query, commit })
  return json.items.map(({ path }: { path: string }) => path)
}

const INVALID = { status: 400, code: 'request.invalid' }
const OVER = FIND_QUERY_CHARACTERS + 1

describe('an invalid query is refused', () => {
  test.for([
    ['nothing', ''],
    ['spaces', '   '],
    ['a tab and line breaks', '\t\r\n\v\f'],
    ['a no-break space', '\u00a0'],
    ['an ideographic space', '\u3000\u3000'],
    ['other spaces of Unicode', '\u1680\u2000\u2007\u2009\u202f\u205f'],
    ['line and paragraph separators', '\u2028\u2029'],
    ['a byte order mark', '\ufeff'],
    ['501 letters', 'x'.repeat(OVER)],
    ['501 characters beyond the first plane', '𠮷'.repeat(OVER)],
    ['501 ideographs', '庭'.repeat(OVER)],
    ['a letter with 500 marks', `e${'\u0301'.repeat(FIND_QUERY_CHARACTERS)}`],
    ['500 letters between spaces', ` ${'x'.repeat(FIND_QUERY_CHARACTERS)} `],
  ] as const)('%s', async ([, query]) => {
    expect(await find(query)).toMatchObject({ ...INVALID, message: expect.stringContaining('query') })
  })

  test.for([
    ['no query', ''],
    ['a name only', '?query'],
    ['two queries', '?query=a&query=a'],
    ['a query in another case', '?Query=garden'],
    ['an unknown parameter', '?query=garden&sort=name'],
    ['a parameter without name', '?query=garden&=x'],
    ['a prototype', '?query=garden&__proto__=x'],
    ['a list', '?query[]=garden'],
    ['two paths', '?query=garden&path=docs&path=docs'],
    ['half a percent-escape', '?query=100%'],
    ['an escape of no digits', '?query=%zz'],
    ['an unpaired surrogate', '?query=%ED%A0%80'],
    ['a surrogate pair in six bytes', '?query=%ED%A0%BD%ED%B8%80'],
    ['an overlong slash', '?query=%C0%AF'],
    ['bytes of Latin-1', '?query=G%E4rten'],
    ['a character beyond Unicode', '?query=%F4%90%80%80'],
    ['a query string of 9 KiB', `?query=garden&path=${'a/'.repeat(4_500)}`],
  ])('%s', async ([, parameters]) => {
    expect(await send(`${FIND}${parameters}`)).toMatchObject(INVALID)
  })

  test.for(['0', '26', '-1', '+5', '1e1', '5.0', '0x5', ' 5', '5 ', '', '５', '99999999999999999999', 'NaN', '5,6'])(
    'limit %j',
    async limit => {
      expect(await find('bread', `&limit=${encodeURIComponent(limit)}`)).toMatchObject(INVALID)
    },
  )

  test.for(['1', '25', '010'])('limit %j is one', async limit => {
    expect(await find('bread', `&limit=${limit}`)).toMatchObject({ status: 200 })
  })

  test.for(['docs/', '/docs', 'docs//x', '.', '..', 'docs/../docs', 'docs\\x', 'docs\0', 'docs\n', 'x/'.repeat(600)])(
    'path %j',
    async path => {
      expect(await find('garden', `&path=${encodeURIComponent(path)}`)).toMatchObject(INVALID)
    },
  )

  test.for(['nowhere', 'docs/garden.md', 'Docs', 'docs%2Fgarden.md', ' docs'])('path %j is no folder here', async path => {
    expect(await find('garden', `&path=${encodeURIComponent(path)}`)).toMatchObject({ status: 404, code: 'mount.path_not_found' })
  })
})

describe('an odd query is answered like any other', () => {
  test.for([
    ['500 letters', 'x'.repeat(FIND_QUERY_CHARACTERS)],
    ['500 characters beyond the first plane', '𠮷'.repeat(FIND_QUERY_CHARACTERS)],
    ['500 ideographs', '庭に水をやる花'.repeat(72).slice(0, FIND_QUERY_CHARACTERS)],
    [
      '500 different ideographs',
      String.fromCodePoint(...Array.from({ length: FIND_QUERY_CHARACTERS }, (_, at) => 0x4e00 + 7 * at)),
    ],
    ['500 emoji', '😀'.repeat(FIND_QUERY_CHARACTERS)],
    ['a letter with 499 marks', `e${'\u0301'.repeat(FIND_QUERY_CHARACTERS - 1)}`],
    ['250 words of one letter', Array.from({ length: 250 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(' ')],
    ['71 misspelled words', Array.from({ length: 71 }, (_, at) => `gardn${at % 10}`).join(' ')],
    ['one identifier of 250 parts', 'a_'.repeat(FIND_QUERY_CHARACTERS / 2)],
    ['dots', '.'.repeat(FIND_QUERY_CHARACTERS)],
    ['colons', '::'.repeat(FIND_QUERY_CHARACTERS / 2)],
    ['case changes', 'aB'.repeat(FIND_QUERY_CHARACTERS / 2)],
    ['jamo and half-width kana', 'ﾊﾟ'.repeat(FIND_QUERY_CHARACTERS / 2)],
    ['a text that normalizes to 18 times its length', '\ufdfa'.repeat(FIND_QUERY_CHARACTERS)],
    ['marks alone', '\u0301'.repeat(FIND_QUERY_CHARACTERS)],
    ['variation selectors', '\ufe0f'.repeat(FIND_QUERY_CHARACTERS)],
    ['right-to-left marks', '\u202e\u200f\u2067'],
    ['a zero-width space', '\u200b'],
    ['private use', '\ue000\u{f0000}'],
    ['no characters', '\ufffe\uffff\u{10ffff}'],
    ['control characters', '\u0001\u001b[2J\u007f\u0085'],
    ['a NUL', '\0'],
    ['signs', '?!… ,;-_.:/\\#+*~\'"`´^°§$%&()[]{}<>|@€'],
    ['one sign', '*'],
    ['a prototype', '__proto__ constructor toString hasOwnProperty'],
    ['a template', '{{7*7}} <%= 7*7 %> %s %n'],
    ['a query of a database', "'; DROP TABLE items; --"],
    ['markup', '<script>alert(1)</script>'],
  ] as const)('%s', async ([, query]) => {
    await pathsOf(query)
  })

  test.for([
    ['NUL between words', 'garden\0tulips', 'docs/garden.md'],
    ['stop words only', 'what is it', 'docs/what-is-it.md'],
    ['one stop word', 'what', 'docs/what-is-it.md'],
    ['stop words and signs', '¿What is it?!', 'docs/what-is-it.md'],
    ['AND', 'tulips AND roses', 'docs/garden.md'],
    ['OR NOT', 'OR NOT roses', 'docs/garden.md'],
    ['quotes', '"tulips and roses"', 'docs/garden.md'],
    ['an open quote', '"tulips', 'docs/garden.md'],
    ['a minus', '-roses', 'docs/garden.md'],
    ['a plus', '+roses', 'docs/garden.md'],
    ['a star', 'tuli*', 'docs/garden.md'],
    ['a regular expression', '(roses|tulips)+$', 'docs/garden.md'],
    ['classes of one', '^[r]oses.*\\b', 'docs/garden.md'],
    ['a field', 'title:garden', 'docs/garden.md'],
    ['NEAR', 'NEAR/2 roses', 'docs/garden.md'],
    ['a boost', 'roses^9 ~2', 'docs/garden.md'],
    ['a path', '../../etc/roses', 'docs/garden.md'],
    ['a path from the root', 'docs/garden.md', 'docs/garden.md'],
    ['signs of a language', 'c++', 'docs/cpp.md'],
    ['a sharp sign', 'c#', 'docs/cpp.md'],
    ['full width', 'ＲＯＳＥＳ', 'docs/garden.md'],
    ['decomposed', 'rose\u0301s', 'docs/garden.md'],
    ['ideographs and kana', '庭に水をやる', 'docs/庭.md'],
    ['one ideograph', '庭', 'docs/庭.md'],
    ['spaces around', '\u3000\u00a0 roses \n', 'docs/garden.md'],
    ['a byte order mark', '\ufeffroses', 'docs/garden.md'],
    ['soft hyphens and joiners', 'ro\u00adses tulips', 'docs/garden.md'],
  ] as const)('%s: %j finds %s', async ([, query, path]) => {
    expect(await pathsOf(query)).toContain(path)
  })

  test('a plus between words is a space, and %2B a plus', async () => {
    const { json } = await send(`${FIND}?query=tulips+roses`)
    expect(json.query).toBe('tulips roses')
    expect((await send(`${FIND}?query=C%2B%2B`)).json).toMatchObject({ query: 'C++', items: [{ path: 'docs/cpp.md' }] })
  })

  test('with any characters', async () => {
    const odd = fc.constantFrom(
      ...'"\'`*+-()[]{}|^$?.\\/:;~#%&=<>@!_ \t\n\0'.split(''),
      'garden',
      'bread',
      '庭',
      '🌱',
      '\u0301',
      '\ufeff',
      'AND',
    )
    const text = fc.oneof(
      fc.array(odd, { minLength: 1, maxLength: 60 }).map(parts => parts.join('')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    )
    await fc.assert(
      fc.asyncProperty(text, async query => {
        const { status, code } = await find(query)
        const isRefused = query.trim() === '' || [...query].length > FIND_QUERY_CHARACTERS
        expect([status, code]).toEqual(isRefused ? [400, 'request.invalid'] : [200, undefined])
      }),
      { numRuns: 300 },
    )
  })
})

describe('a cursor', () => {
  const first = async (parameters = '?query=bread&limit=3') => {
    const { json } = await send(`${FIND}${parameters}`)
    expect(json.nextCursor).toMatch(/^[\w-]+$/)
    return json.nextCursor as string
  }

  test('continues with another limit, and on a HEAD', async () => {
    const cursor = await first()
    expect((await send(`${FIND}?query=bread&limit=25&cursor=${cursor}`)).json.items).toHaveLength(9)
    const answer = await app.app.inject({ method: 'HEAD', url: `${FIND}?query=bread&cursor=${cursor}` })
    expect(answer.statusCode).toBe(200)
  })

  test('continues at the pinned commit of its snapshot', async () => {
    const pinned = `${FIND}@${commit}?query=bread&limit=25`
    expect((await send(`${pinned}&cursor=${await first()}`)).json.items).toHaveLength(9)
  })

  test.for([
    ['another query', '?query=baked'],
    ['the query in capitals', '?query=BREAD'],
    ['the query with a space behind it', '?query=bread%20'],
    ['a path', '?query=bread&path=list'],
    ['the root as an explicit path', '?query=bread&path=docs'],
    ['a mount', '/list?query=bread'],
  ])('is not for %s', async ([, target]) => {
    expect(await send(`${FIND}${target}&cursor=${await first()}`)).toMatchObject(INVALID)
  })

  test('is not for another repository, another endpoint, or without its query', async () => {
    const cursor = await first()
    expect(await send(`/api/v1/find/local/acme/other?query=bread&cursor=${cursor}`)).toMatchObject(INVALID)
    expect(await send(`/api/v1/browse/local/acme/handbook?cursor=${cursor}`)).toMatchObject(INVALID)
    expect(await send(`/api/v1/skills/local/acme/handbook?path=skills/garden/SKILL.md&cursor=${cursor}`)).toMatchObject(INVALID)
    expect(await send(`${FIND}?cursor=${cursor}`)).toMatchObject(INVALID)
    const { json } = await send('/api/v1/browse/local/acme/handbook?path=list&limit=3')
    expect(await send(`${FIND}?query=bread&cursor=${json.nextCursor}`)).toMatchObject(INVALID)
  })

  test('is not for another commit', async () => {
    const repository = app.repository('acme/other')
    const { json } = await send('/api/v1/find/local/acme/other?query=bread&limit=1')
    await repository.commit({ 'unrelated.md': '# Roses\n' })
    await app.open('/local/acme/other')
    expect(await send(`/api/v1/find/local/acme/other?query=bread&cursor=${json.nextCursor}`)).toMatchObject(INVALID)
  })

  test('with any character changed, cut, added or respelled is refused', async () => {
    const cursor = await first()
    const changed = Array.from(cursor, (_, at) => mistyped(cursor, at))
    const others = [
      '',
      'x',
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}==`,
      ` ${cursor}`,
      `${cursor}\n`,
    ]
    const foreign = ['null', '0', '%00', '../..', 'A'.repeat(4_000), '庭', '__proto__']
    for (const wrong of [...changed, ...others, ...foreign])
      expect({ wrong, ...(await find('bread', `&cursor=${encodeURIComponent(wrong)}`)) }).toMatchObject({ wrong, ...INVALID })
  })
})
