import { describe, expect, test } from 'vitest'
import { LINK_HOPS } from '#core/limits.ts'
import { createLicenseResolver } from '#indexer/rules/license/index.ts'
import { textOf as text } from './license-texts.ts'
import { codesOf, licenseOf, MODIFIED, pathOf, resolve, sourcesOf, type Tree } from './license-tree.ts'

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

  test('a license of texts beside one of software divides the folder: both have to be open', () => {
    const parts = (files: Record<string, string>) => licenseOf({ files }, '')
    const apache = { 'LICENSE-APACHE': text('Apache-2.0') }
    expect(parts({ ...apache, 'LICENSE-CC-BY-4.0': text('CC-BY-4.0') })).toEqual([
      'open',
      'Apache-2.0 AND CC-BY-4.0',
      'LICENSE-APACHE',
    ])
    expect(parts({ ...apache, 'LICENSE-MIT': text('MIT'), 'LICENSE-DOCS': text('CC-BY-4.0') })).toEqual([
      'open',
      '(Apache-2.0 OR MIT) AND CC-BY-4.0',
      'LICENSE-APACHE',
    ])
    expect(parts({ ...apache, 'LICENSE-CC-BY-NC-4.0': text('CC-BY-NC-4.0') })).toEqual([
      'restricted',
      'CC-BY-NC-4.0',
      'LICENSE-CC-BY-NC-4.0',
    ])
    expect(parts({ LICENSE: text('MIT'), 'LICENSE-CONTENT': text('CC-BY-4.0') })).toEqual([
      'open',
      'MIT AND CC-BY-4.0',
      'LICENSE',
    ])
    expect(parts({ LICENSE: text('CC-BY-4.0'), 'LICENSE-CODE': text('MIT') })).toEqual(['open', 'CC-BY-4.0 AND MIT', 'LICENSE'])
    expect(parts({ LICENSE: text('MIT'), 'LICENSE-DOCS': 'All rights reserved.' })[0]).toBe('restricted')
    expect(parts({ 'LICENSE-CODE': text('MIT'), 'LICENSE-DOCS': text('CC-BY-4.0') })[1]).toBe('MIT AND CC-BY-4.0')
  })

  test('a text about a part that names an open license, and says more, is reported; one that names none closes', () => {
    const files = { LICENSE: text('MIT'), 'LICENSE-CONTENT': 'Texts are under CC BY 4.0 unless a notice says otherwise.' }
    expect(licenseOf({ files }, '')).toEqual(['open', 'MIT', 'LICENSE'])
    expect(resolve({ files }, '').issues).toMatchObject([{ code: 'license.unrecognized', path: 'LICENSE-CONTENT' }])
    for (const words of ['Ask us before you copy a skill.', 'CC BY 4.0, not for training.', 'CC BY-NC 4.0'])
      expect(licenseOf({ files: { LICENSE: text('MIT'), 'LICENSE-SKILLS': words } }, '')[0]).not.toBe('open')
  })

  test('the license of a library, and a copyright file that reserves rights, open nothing', () => {
    expect(licenseOf({ files: { 'zlib-LICENSE': text('Zlib'), 'json-LICENSE.txt': text('MIT') } }, '')).toEqual([
      'none',
      null,
      null,
    ])
    const reserved = { LICENSE: text('MIT'), COPYRIGHT: 'Proprietary and confidential. Copies need our consent.' }
    expect(licenseOf({ files: reserved }, '')).toEqual(['restricted', null, 'COPYRIGHT'])
    const notice = { LICENSE: text('MIT'), COPYRIGHT: 'Copyright (c) 2026 Example. All rights reserved.' }
    expect(licenseOf({ files: notice }, '')).toEqual(['open', 'MIT', 'LICENSE'])
  })

  test('a file that changes the license beside it, or names its part first, has to be open', () => {
    for (const name of ['LICENSE-ADDENDUM.md', 'LICENSE-RESTRICTIONS', 'SKILLS-LICENSE', 'LICENSE.skills.md'])
      expect(licenseOf({ files: { LICENSE: text('MIT'), [name]: 'Ask Jane before you copy a skill.' } }, '')[0]).toBe('unknown')
    const open = { LICENSE: text('MIT'), 'DOCS-LICENSE.txt': text('CC-BY-4.0') }
    expect(licenseOf({ files: open }, '')).toEqual(['open', 'MIT AND CC-BY-4.0', 'LICENSE'])
  })

  test('an extension in upper case, and a name with a capital, are those of a license in every folder', () => {
    for (const name of ['LICENSE.TXT', 'LICENSE.MD', 'License', 'License.txt'])
      expect(licenseOf({ files: { LICENSE: text('MIT'), [`lib/${name}`]: 'All rights reserved.' } }, 'lib')[0]).toBe('restricted')
    expect(licenseOf({ files: { LICENSE: text('MIT'), 'lib/License.md': '# Licenses\n\nA page.' } }, 'lib')[0]).toBe('open')
  })

  const CHOICE = `This work is licensed under either of

- Apache License, Version 2.0 ([LICENSE-APACHE](LICENSE-APACHE) or http://www.apache.org/licenses/LICENSE-2.0)
- MIT license (LICENSE-MIT)

at your option.`

  test('a file that offers a choice is a choice of the files that it names', () => {
    const both = { LICENSE: CHOICE, 'LICENSE-MIT': text('MIT'), 'LICENSE-APACHE': text('Apache-2.0') }
    expect(licenseOf({ files: both }, '')).toEqual(['open', 'Apache-2.0 OR MIT', 'LICENSE'])
    expect(licenseOf({ files: { COPYRIGHT: CHOICE } }, '')).toEqual(['open', 'Apache-2.0 OR MIT', 'COPYRIGHT'])
    expect(licenseOf({ files: { 'README.md': `# Tools\n\n## License\n\n${CHOICE}` } }, '')[1]).toBe('Apache-2.0 OR MIT')
    const list =
      'Licensed under either of\n\n- Apache License, Version 2.0 (LICENSE-APACHE)\n- MIT license (LICENSE-MIT)\n\nat your option.'
    expect(licenseOf({ files: { LICENSE: list } }, '')[1]).toBe('Apache-2.0 OR MIT')
    const changed = { LICENSE: CHOICE, 'LICENSE-MIT': MODIFIED, 'LICENSE-APACHE': MODIFIED }
    expect(licenseOf({ files: changed }, '')[0]).toBe('unknown')
    const contributions = `Unless you explicitly state otherwise, any contribution intentionally submitted for inclusion in the work by you,
as defined in the Apache-2.0 license, shall be dual licensed as above, without any additional terms or conditions.`
    expect(licenseOf({ files: { LICENSE: `${CHOICE}\n\n### Contribution\n\n${contributions}` } }, '')[0]).toBe('open')
  })

  test.each([
    ['a condition', `${CHOICE} Not for training.`],
    ['a scope', `The code is licensed under either of MIT or Apache-2.0 at your option, except the images.`],
    ['another license', `${CHOICE} The pictures are under CC BY-NC 4.0.`],
    ['a paid choice', 'Licensed under either of the MIT license for students or a commercial license, at your option.'],
    ['one license only', 'Licensed under either of MIT, at your option.'],
    ['a link to terms', `${CHOICE} https://example.com/terms`],
    ['a condition in the copyright line', `Copyright (c) 2026 Example. Use needs consent.\n\n${CHOICE}`],
  ])('a choice with %s is none', (_, choice) => {
    expect(licenseOf({ files: { LICENSE: choice } }, '')[0]).not.toBe('open')
  })

  test('a choice between texts and software is no choice', () => {
    const words = 'Licensed under either of the MIT license or CC BY-NC 4.0, at your option.'
    expect(licenseOf({ files: { LICENSE: words } }, '')).toEqual(['restricted', 'MIT AND CC-BY-NC-4.0', 'LICENSE'])
  })

  test('names that begin with the license, and copyright files, are read', () => {
    expect(licenseOf({ files: { 'MIT-LICENSE.txt': text('MIT') } }, '')).toEqual(['open', 'MIT', 'MIT-LICENSE.txt'])
    expect(licenseOf({ files: { 'MIT-LICENSE': text('MIT'), 'APACHE-LICENSE': text('Apache-2.0') } }, '')[1]).toBe(
      'Apache-2.0 OR MIT',
    )
    expect(licenseOf({ files: { COPYRIGHT: text('MIT') } }, '')).toEqual(['open', 'MIT', 'COPYRIGHT'])
    expect(licenseOf({ files: { COPYRIGHT: 'Copyright (c) 2026 Example AI' } }, '')).toEqual(['none', null, null])
    expect(licenseOf({ files: { COPYRIGHT: 'Ask us.' } }, '')).toEqual(['unknown', null, 'COPYRIGHT'])
    expect(licenseOf({ files: { COPYRIGHT: 'Ask us.', LICENSE: text('MIT') } }, '')).toEqual(['open', 'MIT', 'LICENSE'])
    expect(licenseOf({ files: { LICENSE: text('MIT'), 'docs/COPYRIGHT': 'Ask us.' } }, 'docs')[0]).toBe('open')
  })

  test('a license in an unsupported format is reported, if nothing else declares one', () => {
    for (const name of ['LICENSE.html', 'LICENSE.adoc', 'license.pdf']) {
      const { license, issues } = resolve({ files: { [name]: text('MIT') } }, '')
      expect(license).toEqual({ kind: 'unknown', name: null, source: name })
      expect(issues).toMatchObject([{ code: 'license.unrecognized', case: 'format', path: name }])
    }
    expect(licenseOf({ files: { 'LICENSE.html': 'x', LICENSE: text('MIT') } }, '')).toEqual(['open', 'MIT', 'LICENSE'])
  })

  test('if nothing is declared, places that are not read are reported', () => {
    const told = (files: Record<string, string>) => resolve({ files }, 'a').issues.map(({ path }) => path)
    expect(told({ 'README.md': '# Tools\n\n## License\n\nAsk us.\n' })).toEqual(['README.md'])
    expect(told({ 'README.md': '# Tools\n' })).toEqual([])
    expect(told({ 'Cargo.toml': '[package]\nlicense = "MIT"\n', '.reuse/dep5': 'Files: *\nLicense: MIT\n' })).toEqual([
      '.reuse/dep5',
      'Cargo.toml',
    ])
    expect(told({ 'plugin.json': '{\n  "license": "MIT"\n}', 'pyproject.toml': 'name = "x"\n' })).toEqual(['plugin.json'])
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
  ])('a link %s is missing', (_, link) => {
    const files = { LICENSE: text('MIT'), 'a/LICENSE': { link }, 'b/LICENSE': { link: '../a/LICENSE' } }
    expect(licenseOf({ files }, 'a')).toEqual(['open', 'MIT', 'LICENSE'])
  })

  test('a link is resolved from its own folder, below another link too', () => {
    const files = {
      'a/all': { link: '../legal/all' },
      'a/MIT.txt': text('ISC'),
      'legal/MIT.txt': text('MIT'),
      'legal/all/LICENSE': { link: '../MIT.txt' },
    }
    const skills = { 'a/s': 'see ../all/LICENSE' }
    expect(licenseOf({ files, skills }, 'a/s')).toEqual(['open', 'MIT', 'legal/MIT.txt'])
  })

  test('a submodule is missing', () => {
    const sources = sourcesOf({ files: { LICENSE: text('MIT'), 'a/LICENSE': text('ISC') } })
    const filesIn: typeof sources.filesIn = folder =>
      folder === 'a' ? new Map([['LICENSE', { mode: '160000', oid: 'a/LICENSE', sizeBytes: null }]]) : sources.filesIn(folder)
    const resolver = createLicenseResolver({ ...sources, filesIn })
    expect(resolver.resolve(pathOf('a'), null).license).toEqual({ kind: 'open', name: 'MIT', source: 'LICENSE' })
  })

  test(`a chain of more than ${LINK_HOPS} links is not there`, () => {
    const chain = (length: number) => ({
      'l0.txt': text('MIT'),
      ...Object.fromEntries(Array.from({ length }, (_, index) => [`l${index + 1}.txt`, { link: `l${index}.txt` }])),
    })
    expect(licenseOf({ files: { ...chain(LINK_HOPS - 1), 'a/LICENSE': { link: `../l${LINK_HOPS - 1}.txt` } } }, 'a')[0]).toBe(
      'open',
    )
    expect(licenseOf({ files: { ...chain(LINK_HOPS), 'a/LICENSE': { link: `../l${LINK_HOPS}.txt` } } }, 'a')[0]).toBe('none')
  })

  test('the operator decides on ids of texts as well', () => {
    expect(resolve({ files: { LICENSE: text('BUSL-1.1') } }, '', { allow: ['BUSL-1.1'] }).open).toBe(true)
    expect(resolve({ files: { LICENSE: text('MIT') } }, '', { deny: ['MIT'] }).license.kind).toBe('restricted')
  })
})

describe('reading the necessary files', () => {
  test('requests the texts that matter, links and named files in further rounds', () => {
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
    const folders = ['skills/one', 'skills/two'].map(pathOf)
    const rounds: string[][] = []
    for (let missing = resolver.missing(folders); missing.length > 0; missing = resolver.missing(folders)) {
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

  test('a text that cannot be read is unknown, and so is a link, which may lead to any license', () => {
    const files = {
      LICENSE: text('MIT'),
      'a/LICENSE': text('MIT'),
      'b/LICENSE': { link: '../LICENSE' },
      'c/LICENSE': { link: '/' },
    }
    const sources = sourcesOf({ files })
    const isRead = (path: string) => path === 'LICENSE' || path.startsWith('c/')
    const resolver = createLicenseResolver({ ...sources, textOf: oid => (isRead(oid) ? sources.textOf(oid) : null) })
    expect(resolver.missing(['a', 'b', 'c'].map(pathOf))).toEqual([])
    const licenseIn = (folder: string) => resolver.resolve(pathOf(folder), null).license
    expect(licenseIn('a')).toEqual({ kind: 'unknown', name: null, source: 'a/LICENSE' })
    expect(licenseIn('b')).toEqual({ kind: 'unknown', name: null, source: 'b/LICENSE' })
    expect(licenseIn('c')).toEqual({ kind: 'open', name: 'MIT', source: 'LICENSE' })
  })

  test('beside a skill at the root that declares a license, the README is read for the files outside skills', () => {
    const tree = { skills: { '': 'MIT' }, files: { 'README.md': '# Tools\n\n## License\n\nISC\n' } }
    const texts = new Set<string>()
    const resolver = createLicenseResolver(sourcesOf(tree, path => texts.has(path)))
    expect(resolver.missing([pathOf('docs')])).toEqual(['README.md'])
    texts.add('README.md')
    expect(resolver.missing([pathOf('docs')])).toEqual([])
    expect(resolver.resolve(pathOf('docs'), null).license).toMatchObject({ name: 'ISC', source: 'README.md' })
    expect(resolver.resolve(pathOf('scripts'), pathOf('')).license).toMatchObject({ name: 'MIT', source: 'SKILL.md' })
  })

  test('places of one cause share its issue', () => {
    const resolver = createLicenseResolver(sourcesOf({ files: { LICENSE: MODIFIED } }))
    const [first] = resolver.resolve(pathOf('a/b'), null).issues
    expect(resolver.resolve(pathOf('c'), null).issues[0]).toBe(first)
  })
})
