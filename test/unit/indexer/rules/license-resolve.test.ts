import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import {
  createLicenseResolver,
  type LicenseFile,
  type LicenseSettings,
  type LicenseSources,
} from '#indexer/rules/license/index.ts'

const licenses = createRequire(import.meta.url)('spdx-license-list/full') as Record<string, { licenseText: string }>
const text = (id: string) => licenses[id]?.licenseText ?? ''
const MODIFIED = `${text('MIT')}\n\nYou may not sell it.`

interface Tree {
  /** Text by path; `{ link }` is a symlink. */
  files?: Record<string, string | { link: string }>
  /** `license` of the front matter by folder; `null`: a skill that says nothing. */
  skills?: Record<string, FrontMatterValue | null>
  manifests?: Record<string, FrontMatterValue | null>
}

function pathOf(path: string): RepoPath {
  const parsed = parseRepoPath(path)
  if (parsed === null) throw new Error(`no path: ${path}`)
  return parsed
}

function sourcesOf(
  { files = {}, skills = {}, manifests = {} }: Tree,
  isRead: (path: string) => boolean = () => true,
): LicenseSources {
  const folders = new Map<string, Map<string, LicenseFile>>()
  for (const [path, content] of Object.entries(files)) {
    const folder = parentOf(pathOf(path))
    const entries = folders.get(folder) ?? new Map<string, LicenseFile>()
    folders.set(
      folder,
      entries.set(baseNameOf(pathOf(path)), { mode: typeof content === 'string' ? '100644' : '120000', oid: path }),
    )
  }
  const declaredIn = (declared: Record<string, FrontMatterValue | null>, folder: string) =>
    Object.hasOwn(declared, folder) ? { license: declared[folder] ?? undefined } : null
  return {
    filesIn: folder => folders.get(folder) ?? new Map(),
    textOf: oid => {
      const content = files[oid]
      if (content === undefined || !isRead(oid)) return undefined
      return typeof content === 'string' ? content : content.link
    },
    skillIn: folder => declaredIn(skills, folder),
    manifestIn: folder => declaredIn(manifests, folder),
  }
}

/** The license of the files in a folder; of the nearest skill above it, where there is one. */
function resolve(tree: Tree, folder: string, settings: LicenseSettings = {}) {
  const owners = Object.keys(tree.skills ?? {}).filter(skill => isInside(pathOf(skill), pathOf(folder)))
  const owner = owners.sort((left, right) => right.length - left.length)[0]
  return createLicenseResolver(sourcesOf(tree), settings).resolve(pathOf(folder), owner === undefined ? null : pathOf(owner))
}

function licenseOf(tree: Tree, folder: string) {
  const { kind, name, source } = resolve(tree, folder).license
  return [kind, name, source]
}

const codesOf = (tree: Tree, folder: string) => resolve(tree, folder).issues.map(({ code }) => code)

describe('the nearest declaration', () => {
  test('nothing declared is none', () => {
    expect(resolve({}, 'a/b')).toEqual({ license: { kind: 'none', name: null, source: null }, issues: [], open: false })
  })

  test('a license file covers what lies below it, until a nearer one', () => {
    const tree = { files: { LICENSE: text('MIT'), 'a/LICENSE': text('Apache-2.0') } }
    expect(licenseOf(tree, 'b/c')).toEqual(['open', 'MIT', 'LICENSE'])
    expect(licenseOf(tree, 'a/x/y')).toEqual(['open', 'Apache-2.0', 'a/LICENSE'])
  })

  test('a nearer text that nobody recognises is not replaced by a farther one', () => {
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

  test('the front matter of a skill at the root says nothing about files outside skills', () => {
    const sources = sourcesOf({ skills: { '': 'MIT' } })
    expect(createLicenseResolver(sources).resolve(pathOf(''), pathOf('')).license).toEqual({
      kind: 'open',
      name: 'MIT',
      source: 'SKILL.md',
    })
    expect(createLicenseResolver(sources).resolve(pathOf('docs'), null).license.kind).toBe('none')
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

  test('a file that is not there leaves the license unknown, with a warning at the declaration', () => {
    for (const words of ['LICENSE.txt', '../../LICENSE', 'see TERMS.md']) {
      const { license, issues } = resolve({ skills: { skill: words }, files: { LICENSE: text('MIT') } }, 'skill')
      expect(license).toEqual({ kind: 'unknown', name: words, source: 'skill/SKILL.md' })
      expect(issues).toMatchObject([{ code: 'license.unresolved', field: 'license', path: 'skill/SKILL.md' }])
    }
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
  test('an id in the front matter wins over a text that nobody recognises', () => {
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

  test('a restriction wins wherever it stands', () => {
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

describe('license files', () => {
  test('a plain name decides over suffixed ones', () => {
    const files = { LICENSE: text('MIT'), 'LICENSE-CODE': MODIFIED, 'LICENSE-THIRD-PARTY': MODIFIED, NOTICE: MODIFIED }
    expect(licenseOf({ files }, '')).toEqual(['open', 'MIT', 'LICENSE'])
  })

  test('suffixed names alone are a choice', () => {
    const files = { 'LICENSE-MIT': text('MIT'), 'LICENSE-APACHE': text('Apache-2.0') }
    expect(licenseOf({ files }, '')).toEqual(['open', 'Apache-2.0 OR MIT', 'LICENSE-APACHE'])
    expect(licenseOf({ files: { 'LICENSE-DOCS.md': text('CC-BY-4.0') } }, '')).toEqual(['open', 'CC-BY-4.0', 'LICENSE-DOCS.md'])
  })

  test('a suffixed file for a part has to be open as well', () => {
    const files = { 'LICENSE-CODE': text('MIT'), 'LICENSE-DOCS': text('CC-BY-NC-4.0') }
    expect(licenseOf({ files }, '')).toEqual(['restricted', 'CC-BY-NC-4.0', 'LICENSE-DOCS'])
    expect(licenseOf({ files: { 'LICENSE-MIT': text('MIT'), 'LICENSE-COMMERCIAL': 'Ask us.' } }, '')).toEqual([
      'unknown',
      null,
      'LICENSE-COMMERCIAL',
    ])
  })

  test('of several plain files each has to be open', () => {
    expect(licenseOf({ files: { LICENSE: text('MIT'), 'LICENSE.md': MODIFIED } }, '')).toEqual(['unknown', null, 'LICENSE.md'])
    expect(codesOf({ files: { LICENSE: text('MIT'), COPYING: text('GPL-3.0-only') } }, '')).toEqual(['license.conflict'])
  })

  test('a lower-case name counts at the root and in a skill folder, not in between', () => {
    const files = {
      'license.md': text('MIT'),
      'pages/license.md': '# license\n\n> Create license files.',
      's/license.md': text('ISC'),
    }
    expect(licenseOf({ files, skills: { s: null } }, 'pages')).toEqual(['open', 'MIT', 'license.md'])
    expect(licenseOf({ files, skills: { s: null } }, 's')).toEqual(['open', 'ISC', 's/license.md'])
  })

  test('links inside the repository are followed, through folders too', () => {
    const files = {
      'legal/MIT.txt': text('MIT'),
      shared: { link: 'legal' },
      'a/LICENSE': { link: '../shared/MIT.txt' },
      'b/LICENSE': { link: '../a/LICENSE' },
    }
    expect(licenseOf({ files }, 'a')).toEqual(['open', 'MIT', 'legal/MIT.txt'])
    expect(licenseOf({ files }, 'b')).toEqual(['open', 'MIT', 'legal/MIT.txt'])
  })

  test.each([
    ['to itself', 'LICENSE'],
    ['in a circle', '../b/LICENSE'],
    ['to nothing', 'gone'],
    ['to a folder', '../a'],
    ['out of the repository', '../../LICENSE'],
    ['into the file system', '/etc/passwd'],
    ['below a file', '../LICENSE/x'],
    ['with a line break', '../LICENSE\n'],
    ['to an empty name', ''],
  ])('a link %s is not there', (_, link) => {
    const files = { LICENSE: text('MIT'), 'a/LICENSE': { link }, 'b/LICENSE': { link: '../a/LICENSE' } }
    expect(licenseOf({ files }, 'a')).toEqual(['open', 'MIT', 'LICENSE'])
  })

  test('a chain of more than five links is not there', () => {
    const chain = (length: number) => ({
      'l0.txt': text('MIT'),
      ...Object.fromEntries(Array.from({ length }, (_, index) => [`l${index + 1}.txt`, { link: `l${index}.txt` }])),
    })
    expect(licenseOf({ files: { ...chain(4), 'a/LICENSE': { link: '../l4.txt' } } }, 'a')[0]).toBe('open')
    expect(licenseOf({ files: { ...chain(5), 'a/LICENSE': { link: '../l5.txt' } } }, 'a')[0]).toBe('none')
  })

  test('the operator decides on ids of texts as well', () => {
    expect(resolve({ files: { LICENSE: text('BUSL-1.1') } }, '', { allow: ['BUSL-1.1'] }).open).toBe(true)
    expect(resolve({ files: { LICENSE: text('MIT') } }, '', { deny: ['MIT'] }).license.kind).toBe('restricted')
  })
})

describe('reading what is needed', () => {
  test('asks for the texts that matter, links and named files in further rounds', () => {
    const tree: Tree = {
      skills: { 'skills/one': 'see TERMS.md', 'skills/two': 'MIT' },
      files: {
        'README.md': 'x',
        'package.json': '{}',
        'src/main.ts': 'x',
        'src/LICENSE': text('MIT'),
        'skills/LICENSE': { link: 'shared/a.txt' },
        'skills/shared/a.txt': { link: 'b.txt' },
        'skills/shared/b.txt': text('ISC'),
        'skills/one/TERMS.md': text('0BSD'),
        'skills/two/notes.md': 'x',
      },
    }
    const read = new Set<string>()
    const resolver = createLicenseResolver(sourcesOf(tree, path => read.has(path)))
    const places = ['skills/one', 'skills/two'].map(path => ({ folder: pathOf(path), skillDirectory: pathOf(path) }))
    const rounds: string[][] = []
    for (let missing = resolver.missing(places); missing.length > 0; missing = resolver.missing(places)) {
      rounds.push(missing.sort())
      for (const oid of missing) read.add(oid)
    }
    expect(rounds).toEqual([
      ['README.md', 'package.json', 'skills/LICENSE', 'skills/one/TERMS.md'],
      ['skills/shared/a.txt'],
      ['skills/shared/b.txt'],
    ])
    expect(resolver.resolve(pathOf('skills/one'), pathOf('skills/one')).license.name).toBe('0BSD')
    expect(resolver.resolve(pathOf('skills'), null).license.name).toBe('ISC')
  })

  test('a text that cannot be read is unknown, as a link it is not there', () => {
    const files = { LICENSE: text('MIT'), 'a/LICENSE': text('MIT'), 'b/LICENSE': { link: '../LICENSE' } }
    const sources = sourcesOf({ files })
    const unread = { ...sources, textOf: (oid: string) => (oid === 'LICENSE' ? sources.textOf(oid) : null) }
    const resolver = createLicenseResolver(unread)
    expect(resolver.missing([{ folder: pathOf('a'), skillDirectory: null }])).toEqual([])
    expect(resolver.resolve(pathOf('a'), null).license).toEqual({ kind: 'unknown', name: null, source: 'a/LICENSE' })
    expect(resolver.resolve(pathOf('b'), null).license).toEqual({ kind: 'open', name: 'MIT', source: 'LICENSE' })
  })

  test('places of one cause share its issue', () => {
    const resolver = createLicenseResolver(sourcesOf({ files: { LICENSE: MODIFIED } }))
    const [first] = resolver.resolve(pathOf('a/b'), null).issues
    expect(resolver.resolve(pathOf('c'), null).issues[0]).toBe(first)
  })
})
