import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAddress, parseAddress, parseOwner, refNames } from '#core/address.ts'
import { ERROR_STATUS, ServiceError } from '#core/errors.ts'

const HOSTS = ['gh', 'local']

describe('an address', () => {
  test.each([
    ['local/acme/tools', { host: 'local', owner: 'acme', repository: 'tools', ref: null, path: '' }],
    ['/local/acme/tools', { ref: null, path: '' }],
    ['local/acme/tools/', { ref: null, path: '' }],
    ['local/acme/tools/skills/pdf', { path: 'skills/pdf' }],
    ['local/acme/tools/skills/', { path: 'skills' }],
    ['local/acme/tools@v1', { ref: 'v1', path: '' }],
    ['local/acme/tools@v1/skills', { ref: 'v1', path: 'skills' }],
    ['local/acme/tools@feature%2Fx', { ref: 'feature/x', path: '' }],
    ['local/acme/tools@feature%2fx/y', { ref: 'feature/x', path: 'y' }],
    ['local/acme/tools@a@b', { ref: 'a@b' }],
    ['local/acme/tools@a%40b', { ref: 'a@b' }],
    ['local/acme/tools/a@b', { ref: null, path: 'a@b' }],
    ['local/acme/tools@refs%2Fheads%2Fmain', { ref: 'refs/heads/main' }],
    ['local/acme/tools/a%20b/c++/%25/%255B', { path: 'a b/c++/%/%5B' }],
    ['local/acme/tools/%E7%8C%AB', { path: '猫' }],
    ['local/acme/tools/猫', { path: '猫' }],
    ['local/acme/tools/...', { path: '...' }],
    ['%6Cocal/acme/tools', { host: 'local' }],
    ['gh/Acme-Corp/tools.js', { host: 'gh', owner: 'Acme-Corp', repository: 'tools.js' }],
  ])('%s', (raw, expected) => {
    expect(parseAddress(raw, HOSTS)).toMatchObject(expected)
  })
})

describe('an invalid address has its code', () => {
  test.each([
    [
      'address.invalid_escape',
      [
        'local/acme/tools/%',
        'local/acme/tools/%ZZ',
        'local/acme/tools@%E0%A4%A',
        'local/acme/tools/%FF',
        'local/acme/tools/%C0%AF',
        'local/acme/tools/%ED%A0%80',
        '%/a/b',
      ],
    ],
    ['address.unknown_host', ['hub/acme/tools', 'LOCAL/acme/tools', 'local%2Facme/tools/x', 'x']],
    [
      'address.incomplete',
      ['', '/', 'local', 'local/', 'local/acme', 'local/acme/', 'local//tools', 'local/acme/@v1', '//acme/tools'],
    ],
    [
      'address.invalid_owner',
      [
        'local/.acme/tools',
        'local/a%2Fb/tools',
        'local/a b/tools',
        'gh/-acme/tools',
        `gh/${'a'.repeat(40)}/tools`,
        'gh/a.b/tools',
        'local/../tools',
      ],
    ],
    [
      'address.invalid_repository',
      [
        'local/acme/.tools',
        'local/acme/to%2Fols',
        'gh/acme/..',
        'gh/acme/tools.git',
        'local/acme/tools.git',
        'local/acme/tools%20x',
        `local/acme/${'a'.repeat(101)}`,
        'local/acme/%40v1',
      ],
    ],
    [
      'address.invalid_ref',
      [
        '@',
        '@-x',
        '@--upload-pack=x',
        '@a..b',
        '@a%20b',
        '@a~1',
        '@a^',
        '@a:b',
        '@a?',
        '@a*',
        '@a[',
        '@a\\b',
        '@%2Fa',
        '@a%2F',
        '@a%2F%2Fb',
        '@.a',
        '@a.',
        '@a%2F.b',
        '@a.lock',
        '@@{1}',
        '@%00',
        '@a%0Ab',
        '@@',
      ].map(ref => `local/acme/tools${ref}`),
    ],
    [
      'address.invalid_path',
      [
        '//a',
        '/a//b',
        '/.',
        '/..',
        '/a/../b',
        '/%2e%2e',
        '/%2E',
        '/a%2Fb',
        '/a%5Cb',
        '/a\\b',
        '/%00',
        '/a%0A',
        '/a%7F',
        '/%C2%85',
        '//',
      ].map(path => `local/acme/tools${path}`),
    ],
    [
      'address.too_long',
      [`local/acme/tools/${'a'.repeat(2_048)}`, `local/acme/tools/${'猫'.repeat(700)}`, `local/acme/tools${'/a'.repeat(62)}`],
    ],
  ] as const)('%s', (code, raws) => {
    for (const raw of raws)
      expect(
        codeOf(() => parseAddress(raw, HOSTS)),
        raw,
      ).toBe(code)
  })

  test('2,048 bytes, the leading slash counted, and 64 segments are accepted; 2,049 bytes are not', () => {
    for (const slash of ['', '/']) {
      expect(parseAddress(`${slash}local/acme/tools/${'a'.repeat(2_048 - 18)}`, HOSTS).path).toHaveLength(2_030)
      expect(parseAddress(`${slash}local/acme/tools/${'a'.repeat(2_048 - 18)}/`, HOSTS).path).toHaveLength(2_030)
      expect(codeOf(() => parseAddress(`${slash}local/acme/tools/${'a'.repeat(2_049 - 18)}`, HOSTS))).toBe('address.too_long')
    }
    expect(parseAddress(`local/acme/tools${'/a'.repeat(61)}`, HOSTS).path).toHaveLength(121)
  })

  test('a host that this deployment does not serve is unknown', () => {
    expect(codeOf(() => parseAddress('gh/acme/tools', ['local']))).toBe('address.unknown_host')
    expect(codeOf(() => parseAddress('constructor/acme/tools', ['local']))).toBe('address.unknown_host')
  })
})

describe('the canonical form', () => {
  test.each([
    ['local/acme/tools/', '/local/acme/tools'],
    ['local/acme/tools@feature%2fx/a b', '/local/acme/tools@feature%2Fx/a%20b'],
    ['local/acme/tools/猫', '/local/acme/tools/%E7%8C%AB'],
    ['local/acme/tools/%28x%29/a%40b/c%2B%2B', '/local/acme/tools/(x)/a@b/c++'],
    ['local/acme/tools/%25', '/local/acme/tools/%25'],
    [`local/acme/tools@${'AB'.repeat(20)}/AB`, `/local/acme/tools@${'ab'.repeat(20)}/AB`],
    ['local/acme/tools@ABCDEF', '/local/acme/tools@ABCDEF'],
    ['local/acme/tools/a%3Fb%23c', '/local/acme/tools/a%3Fb%23c'],
  ])('%s is %s', (raw, canonical) => {
    expect(formatAddress(parseAddress(raw, HOSTS))).toBe(canonical)
  })

  test('an address whose canonical form is too long is too long', () => {
    expect(codeOf(() => parseAddress(`local/acme/tools/${'['.repeat(1_000)}`, HOSTS))).toBe('address.too_long')
    expect(formatAddress(parseAddress(`local/acme/tools/${'['.repeat(676)}`, HOSTS))).toHaveLength(2_046)
  })

  test('parsing what was formatted gives the address back', () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter(text => !/[\p{Cc}\\/]/u.test(text) && text !== '.' && text !== '..')
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)
    const ref = fc.option(
      fc.stringMatching(/^[a-z0-9@#%+é猫]{1,10}(?:\/[a-z0-9]{1,5})?$/).filter(text => text !== '@'),
      { nil: null },
    )
    fc.assert(
      fc.property(name, name, ref, fc.array(segment, { maxLength: 6 }), (owner, repository, requested, path) => {
        const address = { host: 'local', owner, repository, ref: requested, path: path.join('/') as never }
        expect(parseAddress(formatAddress(address), HOSTS)).toEqual(address)
      }),
    )
  })

  test('any text is an address or has a code of an address', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 80 }),
          fc.string({ maxLength: 80 }).map(text => `local/acme/tools${text}`),
        ),
        raw => {
          const code = codeOf(() => parseAddress(raw, HOSTS))
          expect(code === null || code.startsWith('address.')).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

test('every address code is 400', () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) if (code.startsWith('address.')) expect(status).toBe(400)
})

function codeOf(parse: () => unknown): string | null {
  try {
    parse()
    return null
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}

describe('an owner', () => {
  test.each(['gh/acme', '/gh/acme', 'gh/acme/', 'g%68/%61cme'])('%s', raw => {
    expect(parseOwner(raw, ['gh'])).toEqual({ host: 'gh', owner: 'acme' })
  })

  test.each([
    '',
    '/',
    'gh',
    'gh/',
    'gh//acme',
    'acme',
    'local/acme',
    'GH/acme',
    'gh/-acme',
    'gh/a.b',
    'gh/a/b',
    'gh/%',
    'gh/%FF',
  ])('%j is none', raw => {
    expect(() => parseOwner(raw, ['gh'])).toThrow(expect.objectContaining({ code: 'owner.invalid' }))
  })
})

test.each<[string, string[]]>([
  ['main', ['refs/heads/main', 'refs/tags/main']],
  ['feature/x', ['refs/heads/feature/x', 'refs/tags/feature/x']],
  ['refs/heads/main', ['refs/heads/main']],
  ['refs/tags/v1', ['refs/tags/v1']],
  ['heads/main', ['refs/heads/heads/main', 'refs/tags/heads/main']],
  ...['HEAD', 'refs/pull/1/head', 'refs/remotes/origin/main', 'refs/heads', 'refs/stash', 'refs/heads/../x', '', '-x'].map(
    (ref): [string, string[]] => [ref, []],
  ),
])('the ref %j may be %j', (ref, names) => {
  expect(refNames(ref)).toEqual(names)
})
