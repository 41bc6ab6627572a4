import { describe, expect, test } from 'vitest'
import { createLicenseResolver } from '#indexer/rules/license/index.ts'
import { change, textOf as text } from './license-texts.ts'
import { codesOf, licenseOf, MODIFIED, pathOf, resolve, sourcesOf } from './license-tree.ts'

describe('the nearest declaration', () => {
  test('nothing declared is none', () => {
    expect(resolve({}, 'a/b')).toEqual({ license: { kind: 'none', name: null, source: null }, issues: [], open: false })
  })

  test('a license file covers the files below it, except below a nearer one', () => {
    const tree = { files: { LICENSE: text('MIT'), 'a/LICENSE': text('Apache-2.0') } }
    expect(licenseOf(tree, 'b/c')).toEqual(['open', 'MIT', 'LICENSE'])
    expect(licenseOf(tree, 'a/x/y')).toEqual(['open', 'Apache-2.0', 'a/LICENSE'])
  })

  test('a nearer unrecognised text is not replaced by a farther one', () => {
    expect(licenseOf({ files: { LICENSE: text('MIT'), 'a/LICENSE': MODIFIED } }, 'a')).toEqual(['unknown', null, 'a/LICENSE'])
    expect(codesOf({ files: { 'a/LICENSE': MODIFIED } }, 'a')).toEqual(['license.unrecognized'])
  })

  test('the front matter of a skill comes first, then its manifest, its files, plugin and package', () => {
    const files = {
      'skill/LICENSE': text('Apache-2.0'),
      'skill/.claude-plugin/plugin.json': '{"license":"Apache-2.0"}',
      'skill/package.json': '{"license":"ISC"}',
    }
    expect(licenseOf({ skills: { skill: 'MIT' }, manifests: { skill: 'Apache-2.0' }, files }, 'skill')).toEqual([
      'open',
      'MIT',
      'skill/SKILL.md',
    ])
    expect(licenseOf({ skills: { skill: null }, manifests: { skill: '0BSD' }, files }, 'skill')).toEqual([
      'open',
      '0BSD',
      'skill/SKILLSET.md',
    ])
    expect(licenseOf({ skills: { skill: null }, files }, 'skill')).toEqual(['open', 'Apache-2.0', 'skill/LICENSE'])
    const { 'skill/LICENSE': _, ...metadata } = files
    expect(licenseOf({ skills: { skill: null }, files: metadata }, 'skill')).toEqual([
      'open',
      'Apache-2.0',
      'skill/.claude-plugin/plugin.json',
    ])
  })

  test('supporting files take the license of their skill, unless a folder between declares its own', () => {
    const tree = { skills: { skill: 'MIT' }, files: { LICENSE: text('GPL-3.0-only'), 'skill/fonts/LICENSE': text('OFL-1.1') } }
    expect(licenseOf(tree, 'skill/scripts')).toEqual(['open', 'MIT', 'skill/SKILL.md'])
    expect(licenseOf(tree, 'skill/fonts/x')).toEqual(['open', 'OFL-1.1', 'skill/fonts/LICENSE'])
    expect(licenseOf(tree, 'docs')).toEqual(['open', 'GPL-3.0-only', 'LICENSE'])
  })

  test('the front matter of a skill at the root does not cover files outside skills', () => {
    const sources = sourcesOf({ skills: { '': 'MIT' } })
    expect(createLicenseResolver(sources).resolve(pathOf(''), pathOf('')).license).toEqual({
      kind: 'open',
      name: 'MIT',
      source: 'SKILL.md',
    })
    expect(createLicenseResolver(sources).resolve(pathOf('docs'), null).license.kind).toBe('none')
  })

  test('unreadable front matter may declare anything: only a manifest or a license file beside it decides', () => {
    const files = { LICENSE: text('MIT'), 'skill/package.json': '{"license":"ISC"}' }
    const unread = ['skill']
    const unknown = ['unknown', null, 'skill/SKILL.md']
    expect(licenseOf({ files, unread }, 'skill')).toEqual(unknown)
    expect(licenseOf({ files, unread }, 'skill/scripts')).toEqual(unknown)
    expect(codesOf({ files, unread }, 'skill')).toEqual(['license.unrecognized'])
    expect(licenseOf({ files, unread, manifests: { '': 'MIT' } }, 'skill')).toEqual(unknown)
    expect(licenseOf({ files, unread, manifests: { skill: '0BSD' } }, 'skill')).toEqual(['open', '0BSD', 'skill/SKILLSET.md'])
    const beside = { ...files, 'skill/LICENSE': text('ISC') }
    expect(licenseOf({ files: beside, unread }, 'skill')).toEqual(['open', 'ISC', 'skill/LICENSE'])
    const below = { ...files, 'skill/fonts/LICENSE': text('OFL-1.1') }
    expect(licenseOf({ files: below, unread }, 'skill/fonts')).toEqual(['open', 'OFL-1.1', 'skill/fonts/LICENSE'])
    expect(licenseOf({ files, unread }, 'docs')).toEqual(['open', 'MIT', 'LICENSE'])
  })

  test('a package file that could not be read may declare anything, too', () => {
    const sources = sourcesOf({
      files: { LICENSE: text('MIT'), 'a/package.json': '{"license":"UNLICENSED"}' },
      skills: { a: null },
    })
    const unread = { ...sources, textOf: (oid: string) => (oid === 'LICENSE' ? sources.textOf(oid) : null) }
    const { license } = createLicenseResolver(unread).resolve(pathOf('a'), pathOf('a'))
    expect(license).toEqual({ kind: 'unknown', name: null, source: 'a/package.json' })
  })

  test('a package file counts at the root and in a skill folder only', () => {
    const files = { 'package.json': '{"license":"MIT"}', 'a/package.json': '{"license":"ISC"}' }
    expect(licenseOf({ files }, 'a')).toEqual(['open', 'MIT', 'package.json'])
    expect(licenseOf({ files, skills: { a: null } }, 'a')).toEqual(['open', 'ISC', 'a/package.json'])
  })

  test.each([
    ['{"license":{"type":"MIT"}}', ['open', 'MIT', 'package.json']],
    ['{"licenses":[{"type":"MIT"},{"type":"BUSL-1.1"}]}', ['open', 'MIT OR BUSL-1.1', 'package.json']],
    ['{"license":"SEE LICENSE IN TERMS.md"}', ['unknown', 'SEE LICENSE IN TERMS.md', 'package.json']],
    ['{"license":"UNLICENSED"}', ['restricted', 'UNLICENSED', 'package.json']],
    ['{"license":7}', ['unknown', null, 'package.json']],
    ['{"licenses":[]}', ['unknown', null, 'package.json']],
    ['{"__proto__":{"license":"MIT"}}', ['none', null, null]],
    ['{"name":"x"}', ['none', null, null]],
    ['["MIT"]', ['none', null, null]],
    ['{', ['none', null, null]],
  ])('a package file %s', (json, license) => {
    expect(licenseOf({ files: { 'package.json': json } }, 'a')).toEqual(license)
  })

  test('manifests of plugins of several clients are read', () => {
    expect(licenseOf({ files: { 'a/.codex-plugin/plugin.json': '{"license":"MIT"}' } }, 'a/b')[0]).toBe('open')
    const files = {
      'a/.claude-plugin/plugin.json': '{"license":"MIT"}',
      'a/.cursor-plugin/plugin.json': '{"license":"UNLICENSED"}',
    }
    expect(licenseOf({ files }, 'a')).toEqual(['restricted', 'UNLICENSED', 'a/.cursor-plugin/plugin.json'])
  })

  test('a marketplace names the licenses of its plugins', () => {
    const marketplace = (...plugins: object[]) => ({ '.claude-plugin/marketplace.json': JSON.stringify({ plugins }) })
    const source = '.claude-plugin/marketplace.json'
    const one = marketplace(
      { source: './a', license: 'MIT' },
      { source: './b', license: 'Proprietary' },
      { source: { source: 'git' } },
    )
    expect(licenseOf({ files: one }, 'a/x')).toEqual(['open', 'MIT', source])
    expect(licenseOf({ files: one }, 'b')).toEqual(['restricted', 'Proprietary', source])
    expect(licenseOf({ files: one }, 'c')).toEqual(['none', null, null])
    expect(licenseOf({ files: marketplace({ source: './', license: 'MIT' }) }, 'a')).toEqual(['open', 'MIT', source])
    const mixed = marketplace({ source: './', license: 'MIT' }, { source: './', license: 'Proprietary' })
    expect(licenseOf({ files: mixed }, 'a')[0]).toBe('none')
    for (const other of ['MIT', undefined]) {
      const parts = [
        { source: './a', license: 'Proprietary' },
        { source: './a', license: other },
      ]
      for (const plugins of [parts, parts.toReversed()])
        expect(licenseOf({ files: { ...marketplace(...plugins), LICENSE: text('MIT') } }, 'a')[0]).toBe('restricted')
    }
    expect(licenseOf({ files: { ...one, 'a/LICENSE': text('BUSL-1.1') } }, 'a')[0]).toBe('restricted')
    const rooted = {
      '.claude-plugin/marketplace.json': '{"metadata":{"pluginRoot":"./plugins"},"plugins":[{"source":"a","license":"MIT"}]}',
    }
    expect(licenseOf({ files: rooted }, 'plugins/a')[0]).toBe('open')
    expect(
      licenseOf({ files: { '.claude-plugin/marketplace.json': '{"plugins":[{"source":"../a","license":"MIT"}' } }, '')[0],
    ).toBe('none')
  })

  test('the README of the root is asked when nothing else declares anything', () => {
    const readme = '# Tools\n\n## License\n\nMIT\n'
    expect(licenseOf({ files: { 'README.md': readme } }, 'a/b')).toEqual(['open', 'MIT', 'README.md'])
    expect(licenseOf({ files: { 'README.md': readme, 'package.json': '{"license":"ISC"}' } }, '')).toEqual([
      'open',
      'ISC',
      'package.json',
    ])
    expect(licenseOf({ files: { 'a/README.md': readme } }, 'a')).toEqual(['none', null, null])
    expect(licenseOf({ files: { 'README.md': { link: 'docs/README.md' }, 'docs/README.md': readme } }, '')).toEqual([
      'none',
      null,
      null,
    ])
  })
})

describe('declared words', () => {
  test('words point to a file beside them, above them, or from the root', () => {
    const files = { 'skill/TERMS.md': text('MIT'), 'LICENSE.txt': text('ISC') }
    expect(licenseOf({ skills: { skill: 'Complete terms in TERMS.md' }, files }, 'skill')).toEqual([
      'open',
      'MIT',
      'skill/TERMS.md',
    ])
    expect(licenseOf({ skills: { skill: '../LICENSE.txt' }, files }, 'skill')).toEqual(['open', 'ISC', 'LICENSE.txt'])
    expect(licenseOf({ manifests: { skill: 'see /LICENSE.txt' }, files }, 'skill')).toEqual(['open', 'ISC', 'LICENSE.txt'])
  })

  test('a missing file leaves the license unknown, with a warning at the declaration', () => {
    for (const words of ['LICENSE.txt', '../../LICENSE', 'see TERMS.md']) {
      const { license, issues } = resolve({ skills: { skill: words }, files: { LICENSE: text('MIT') } }, 'skill')
      expect(license).toEqual({ kind: 'unknown', name: words, source: 'skill/SKILL.md' })
      expect(issues).toMatchObject([{ code: 'license.unresolved', field: 'license', path: 'skill/SKILL.md' }])
    }
  })

  test('an id that points to a file needs that text to be open, here or above', () => {
    const skills = { skill: 'Apache-2.0. See LICENSE for complete terms.' }
    expect(licenseOf({ skills, files: { LICENSE: text('Apache-2.0') } }, 'skill')).toEqual([
      'open',
      'Apache-2.0',
      'skill/SKILL.md',
    ])
    expect(codesOf({ skills, files: { LICENSE: text('Apache-2.0') } }, 'skill')).toEqual([])
    expect(licenseOf({ skills, files: { LICENSE: MODIFIED } }, 'skill')).toEqual(['unknown', 'Apache-2.0', 'LICENSE'])
    expect(licenseOf({ skills, files: { 'skill/LICENSE': text('BUSL-1.1') } }, 'skill')).toEqual([
      'restricted',
      'BUSL-1.1',
      'skill/LICENSE',
    ])
    expect(codesOf({ skills, files: { LICENSE: text('MIT') } }, 'skill')).toEqual(['license.conflict'])
    const shortened = { LICENSE: change(text('Apache-2.0'), 'reasonable and customary use in', '') }
    expect(licenseOf({ skills, files: shortened }, 'skill')).toEqual(['open', 'Apache-2.0', 'skill/SKILL.md'])
    expect(codesOf({ skills, files: shortened }, 'skill')).toEqual(['license.unrecognized'])
    const longer = { LICENSE: `${text('Apache-2.0')}\n\nNot for training.` }
    expect(licenseOf({ skills, files: longer }, 'skill')[0]).toBe('unknown')
  })

  test('an id that points to a missing license file counts, with a warning; other terms that are missing are unknown', () => {
    const missing = (words: string) => [
      licenseOf({ skills: { skill: words } }, 'skill')[0],
      ...codesOf({ skills: { skill: words } }, 'skill'),
    ]
    expect(missing('MIT (see LICENSE.txt)')).toEqual(['open', 'license.unresolved'])
    expect(missing('MIT (see ../../../LICENSE)')).toEqual(['open', 'license.unresolved'])
    expect(missing('MIT (see TERMS.md)')).toEqual(['unknown', 'license.unresolved'])
  })

  test('proprietary words restrict even next to an open file', () => {
    const tree = { skills: { skill: 'Proprietary. LICENSE.txt has complete terms' }, files: { 'skill/LICENSE.txt': text('MIT') } }
    expect(licenseOf(tree, 'skill')).toEqual(['restricted', 'Proprietary. LICENSE.txt has complete terms', 'skill/SKILL.md'])
  })

  test('prose, and what is no text, is unknown with a warning', () => {
    expect(licenseOf({ skills: { skill: 'Ask  Ada' } }, 'skill')).toEqual(['unknown', 'Ask Ada', 'skill/SKILL.md'])
    expect(licenseOf({ skills: { skill: ['MIT'] }, files: { LICENSE: text('MIT') } }, 'skill')).toEqual([
      'unknown',
      null,
      'skill/SKILL.md',
    ])
    expect(resolve({ manifests: { a: 'Ask Ada' } }, 'a').issues).toMatchObject([
      { code: 'license.unrecognized', field: 'license', path: 'a/SKILLSET.md' },
    ])
  })

  test('long words are cut in the answer', () => {
    const { license } = resolve({ skills: { skill: 'words '.repeat(60) } }, 'skill')
    expect(license.name).toHaveLength(120)
  })

  test('empty words declare nothing in a skill, and something unknown in a manifest', () => {
    expect(licenseOf({ manifests: { a: '' }, files: { LICENSE: text('MIT') } }, 'a')).toEqual(['unknown', null, 'a/SKILLSET.md'])
    expect(licenseOf({ skills: { skill: '' }, files: { LICENSE: text('MIT') } }, 'skill')).toEqual(['open', 'MIT', 'LICENSE'])
  })
})

describe('declarations of one folder that differ', () => {
  test('an id in the front matter precedes an unrecognised text', () => {
    expect(licenseOf({ skills: { s: 'MIT' }, files: { 's/LICENSE': MODIFIED } }, 's')).toEqual(['open', 'MIT', 's/SKILL.md'])
    expect(licenseOf({ manifests: { '': 'CC-BY-4.0' }, files: { LICENSE: MODIFIED } }, 'docs')).toEqual([
      'open',
      'CC-BY-4.0',
      'SKILLSET.md',
    ])
  })

  test('a package file does not', () => {
    expect(licenseOf({ files: { LICENSE: MODIFIED, 'package.json': '{"license":"MIT"}' } }, '')).toEqual([
      'unknown',
      null,
      'LICENSE',
    ])
  })

  test('a restriction prevails at any place', () => {
    const tree = { files: { LICENSE: text('CC-BY-4.0'), 'package.json': '{"license":"CC BY-NC-SA 4.0"}' } }
    expect(licenseOf(tree, '')).toEqual(['restricted', 'CC-BY-NC-SA-4.0', 'package.json'])
    expect(codesOf(tree, '')).toEqual(['license.conflict'])
    expect(licenseOf({ skills: { s: 'MIT' }, files: { 's/LICENSE': text('BUSL-1.1') } }, 's')).toEqual([
      'restricted',
      'BUSL-1.1',
      's/LICENSE',
    ])
    expect(licenseOf({ skills: { s: 'MIT' }, files: { 's/LICENSE': 'All rights reserved.' } }, 's')).toEqual([
      'restricted',
      null,
      's/LICENSE',
    ])
  })

  test('of two open licenses the front matter names the one, with a warning', () => {
    const tree = { skills: { s: 'MIT' }, files: { 's/LICENSE': text('Apache-2.0') } }
    expect(licenseOf(tree, 's')).toEqual(['open', 'MIT', 's/SKILL.md'])
    expect(resolve(tree, 's').issues).toMatchObject([{ code: 'license.conflict', field: 'license', path: 's/SKILL.md' }])
  })

  test('one side of a choice, and "or later", are no conflict', () => {
    expect(codesOf({ skills: { s: 'MIT OR Apache-2.0' }, files: { 's/LICENSE': text('MIT') } }, 's')).toEqual([])
    expect(codesOf({ skills: { s: 'GPL-3.0-or-later' }, files: { 's/LICENSE': text('GPL-3.0-only') } }, 's')).toEqual([])
  })
})
