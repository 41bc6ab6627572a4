import { describe, expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { createLicenseResolver } from '#indexer/rules/license/index.ts'
import { textOf as text } from './license-texts.ts'
import { licenseOf, MODIFIED, pathOf, resolve, sourcesOf } from './license-tree.ts'

const annotation = (path: string, license: string, more = '') =>
  `[[annotations]]\npath = ${path}\nSPDX-FileCopyrightText = "2026 Example AI"\nSPDX-License-Identifier = "${license}"\n${more}\n`
const reuse = (...annotations: string[]) => `version = 1\n\n${annotations.join('\n')}`
const FILES = { 'LICENSES/MIT.txt': text('MIT'), 'skills/a/SKILL.md': 'Do.', 'skills/b/SKILL.md': 'Do.' }

const messageOf = ({ issues }: Pick<ReturnType<typeof resolve>, 'issues'>) =>
  issues.map(issue => withMessage(issue).message).join()

describe('the REUSE specification', () => {
  test('annotations name the license of the files', () => {
    const files = { ...FILES, 'REUSE.toml': reuse(annotation('"**"', 'MIT')) }
    expect(licenseOf({ files }, 'skills/a')).toEqual(['open', 'MIT', 'REUSE.toml'])
    expect(licenseOf({ files }, 'skills')).toEqual(['none', null, null])
  })

  test('the last annotation that matches a file counts; a folder has the licenses of all its files', () => {
    const toml = reuse(
      annotation('"**"', 'MIT'),
      annotation('["skills/b/**", "x.md"]', 'CC-BY-NC-4.0'),
      annotation('"skills/a/*.md"', 'ISC'),
    )
    const files = { ...FILES, 'skills/a/run.sh': 'x', 'REUSE.toml': toml }
    expect(licenseOf({ files }, 'skills/a')).toEqual(['open', 'ISC AND MIT', 'REUSE.toml'])
    expect(licenseOf({ files }, 'skills/b')).toEqual(['restricted', 'CC-BY-NC-4.0', 'REUSE.toml'])
  })

  test('a nearer declaration counts, and an annotation beside it may restrict', () => {
    const files = { ...FILES, LICENSE: text('MIT'), 'REUSE.toml': reuse(annotation('"skills/b/**"', 'BUSL-1.1')) }
    expect(licenseOf({ files, skills: { 'skills/b': 'ISC' } }, 'skills/b')).toEqual(['open', 'ISC', 'skills/b/SKILL.md'])
    expect(licenseOf({ files }, 'skills/b')).toEqual(['restricted', 'BUSL-1.1', 'REUSE.toml'])
    expect(licenseOf({ files }, 'skills/a')).toEqual(['open', 'MIT', 'LICENSE'])
    const open = { ...files, 'skills/b/scripts/x': 'x', 'REUSE.toml': reuse(annotation('"**"', 'MIT')) }
    expect(licenseOf({ files: open, skills: { 'skills/b': 'Proprietary' } }, 'skills/b/scripts')[0]).toBe('restricted')
  })

  test('a sidecar counts before an annotation, unless the annotation overrides it', () => {
    const sidecar = {
      ...FILES,
      'skills/a/SKILL.md.license': 'SPDX-FileCopyrightText: 2026 Example\nSPDX-License-Identifier: BUSL-1.1\n',
    }
    const withToml = (more: string) => ({ files: { ...sidecar, 'REUSE.toml': reuse(annotation('"**"', 'MIT', more)) } })
    expect(licenseOf(withToml(''), 'skills/a')).toEqual(['restricted', 'BUSL-1.1', 'REUSE.toml'])
    expect(licenseOf(withToml('precedence = "override"'), 'skills/a')).toEqual(['open', 'MIT', 'REUSE.toml'])
    expect(licenseOf(withToml('precedence = "aggregate"'), 'skills/a')).toEqual(['restricted', 'BUSL-1.1 AND MIT', 'REUSE.toml'])
    const unclear = { ...sidecar, 'skills/a/SKILL.md.license': 'Ask us.', 'REUSE.toml': reuse(annotation('"**"', 'MIT')) }
    expect(licenseOf({ files: unclear }, 'skills/a')).toEqual(['unknown', null, 'skills/a/SKILL.md.license'])
  })

  test('a nearer file counts, unless one above it overrides', () => {
    const files = (precedence: string) => ({
      ...FILES,
      'REUSE.toml': reuse(annotation('"**"', 'BUSL-1.1', precedence)),
      'skills/a/REUSE.toml': reuse(annotation('"*.md"', 'MIT')),
    })
    expect(licenseOf({ files: files('') }, 'skills/a')).toEqual(['open', 'MIT', 'skills/a/REUSE.toml'])
    expect(licenseOf({ files: files('precedence = "override"') }, 'skills/a')[0]).toBe('restricted')
  })

  test('headers of files are not read, so every license of the repository has to be open', () => {
    const mixed = { ...FILES, 'LICENSES/LicenseRef-Own.txt': 'Ask us.' }
    const withToml = (more: string) => ({ files: { ...mixed, 'REUSE.toml': reuse(annotation('"**"', 'MIT', more)) } })
    expect(licenseOf(withToml(''), 'skills/a')).toEqual(['unknown', 'MIT', 'REUSE.toml'])
    expect(messageOf(resolve(withToml(''), 'skills/a'))).toContain('LICENSES/LicenseRef-Own.txt')
    expect(licenseOf(withToml('precedence = "override"'), 'skills/a')[0]).toBe('open')
  })

  test('an id of the repository is the license of its text', () => {
    const files = (own: string) => ({
      'LICENSES/LicenseRef-Own.txt': own,
      'a/x.md': 'x',
      'REUSE.toml': reuse(annotation('"**"', 'LicenseRef-Own', 'precedence = "override"')),
    })
    expect(licenseOf({ files: files(text('MIT')) }, 'a')).toEqual(['open', 'MIT', 'REUSE.toml'])
    expect(licenseOf({ files: files(MODIFIED) }, 'a')[0]).toBe('restricted')
  })

  test('the folder of licenses alone has to be open as a whole', () => {
    expect(licenseOf({ files: FILES }, 'skills/a')).toEqual(['open', 'MIT', 'LICENSES/MIT.txt'])
    expect(licenseOf({ files: { ...FILES, 'LICENSES/MPL-2.0.txt': text('MPL-2.0') } }, '')[1]).toBe('MIT AND MPL-2.0')
    expect(licenseOf({ files: { ...FILES, 'LICENSES/Own.txt': MODIFIED } }, '')).toEqual(['unknown', null, 'LICENSES/Own.txt'])
    expect(licenseOf({ files: { ...FILES, LICENSE: text('ISC') } }, '')[1]).toBe('ISC')
  })

  test('a folder of licenses named after libraries does not cover the repository', () => {
    const files = { 'LICENSES/left-pad.txt': text('MIT'), 'LICENSES/MIT.txt': text('MIT'), 'a/SKILL.md': 'Do.' }
    expect(licenseOf({ files }, 'a')[0]).toBe('none')
  })

  test('files that no annotation names are under the next declaration, or under all licenses of the folder', () => {
    const toml = reuse(annotation('"skills/a/SKILL.md"', 'ISC', 'precedence = "override"'))
    const files = { 'skills/a/SKILL.md': 'Do.', 'skills/a/run.sh': 'x', 'REUSE.toml': toml }
    expect(licenseOf({ files }, 'skills/a')).toEqual(['unknown', null, 'REUSE.toml'])
    expect(messageOf(resolve({ files }, 'skills/a'))).toContain('run.sh')
    const texts = { 'LICENSES/ISC.txt': text('ISC'), 'LICENSES/MIT.txt': text('MIT') }
    expect(licenseOf({ files: { ...files, ...texts } }, 'skills/a')).toEqual(['open', 'ISC AND (ISC AND MIT)', 'REUSE.toml'])
    expect(licenseOf({ files: { ...files, 'LICENSES/Own.txt': MODIFIED } }, 'skills/a')[0]).toBe('unknown')
    const below = { ...files, LICENSE: text('MIT'), 'skills/REUSE.toml': reuse(annotation('"a/SKILL.md"', 'ISC')) }
    expect(licenseOf({ files: below }, 'skills/a')[0]).toBe('open')
    expect(licenseOf({ files: { ...below, LICENSE: text('BUSL-1.1') } }, 'skills/a')[0]).toBe('restricted')
  })

  test('an unreadable file closes content that a license file beside it opens, except by declared words', () => {
    const files = { ...FILES, LICENSE: text('MIT'), 'REUSE.toml': 'version = ' }
    expect(licenseOf({ files }, 'skills/a')).toEqual(['unknown', null, 'REUSE.toml'])
    expect(licenseOf({ files, manifests: { '': 'MIT' } }, 'skills/a')[0]).toBe('open')
  })

  test('a withheld text is not named', () => {
    const files = { ...FILES, 'LICENSES/LicenseRef-Secret.txt': 'Ask us.', 'REUSE.toml': reuse(annotation('"**"', 'MIT')) }
    const { issues } = resolve({ files, withheld: ['LICENSES/LicenseRef-Secret.txt'] }, 'skills/a')
    expect(messageOf({ issues })).toContain('withheld file')
    expect(messageOf({ issues })).not.toContain('Secret')
  })

  test('the work of matching paths is bounded', () => {
    const paths = Array.from({ length: 50 }, (_, index) => `"**${'a'.repeat(100)}${index}"`).join(', ')
    const { issues } = resolve({ files: { ...FILES, 'REUSE.toml': reuse(annotation(`[${paths}]`, 'MIT')) } }, 'skills/a')
    expect(messageOf({ issues })).toContain('annotations')
  })

  test.each([
    ['no TOML', 'version = ', 'TOML'],
    ['another version', 'version = 2', 'version'],
    ['no list', 'version = 1\nannotations = 7', 'annotations'],
    ['no path', 'version = 1\n[[annotations]]\nSPDX-License-Identifier = "MIT"', 'path'],
    ['a path out of the folder', reuse(annotation('"../**"', 'MIT')), 'path'],
    ['a path from the root', reuse(annotation('"/a"', 'MIT')), 'path'],
    ['words as license', reuse(annotation('"**"', 'Ask us')), 'SPDX'],
    ['too many annotations', reuse(...Array.from({ length: 201 }, () => annotation('"**"', 'MIT'))), 'annotations'],
  ])('a file with %s closes the files that it governs, with a diagnostic', (_, toml, word) => {
    const { license, issues } = resolve({ files: { ...FILES, 'REUSE.toml': toml } }, 'skills/a')
    expect(license).toEqual({ kind: 'unknown', name: null, source: 'REUSE.toml' })
    expect(issues).toMatchObject([{ code: 'license.unrecognized', path: 'REUSE.toml' }])
    expect(messageOf({ issues })).toContain(word)
  })

  test('special characters of other pattern languages stand for themselves', () => {
    const files = { ...FILES, 'c/[x]!.md': 'x', 'd/x.md': 'x', 'REUSE.toml': reuse(annotation('["c/[x]!.md", "d/?.md"]', 'MIT')) }
    expect(licenseOf({ files }, 'c')[0]).toBe('open')
    expect(licenseOf({ files }, 'd')[0]).toBe('none')
  })

  test.each([
    ['**', 'a/b.md', true],
    ['*', 'a.md', true],
    ['*', 'a/b.md', false],
    ['a/*.md', 'a/b.md', true],
    ['a/*.md', 'a/b/c.md', false],
    ['a/**.md', 'a/b/c.md', true],
    ['**/c.md', 'a/b/c.md', true],
    ['a', 'a/b.md', false],
    ['a/**', 'ab', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['a\\\\*', 'a*', true],
    ['a\\\\*', 'ab', false],
  ])('the path %s matches %s: %s', (pattern, path, isMatched) => {
    const files = {
      'LICENSES/MIT.txt': text('MIT'),
      [path]: 'x',
      'REUSE.toml': reuse(annotation(`"${pattern}"`, 'MIT', 'precedence = "override"')),
    }
    const folder = path.split('/').slice(0, -1).join('/')
    expect(licenseOf({ files }, folder)[0]).toBe(isMatched ? 'open' : 'none')
  })

  test('its texts are requested in rounds', () => {
    const files = {
      ...FILES,
      'skills/a/SKILL.md.license': 'SPDX-License-Identifier: MIT',
      'REUSE.toml': reuse(annotation('"**"', 'MIT')),
    }
    const read = new Set<string>()
    const resolver = createLicenseResolver(sourcesOf({ files }, path => read.has(path)))
    const rounds: string[][] = []
    for (
      let missing = resolver.missing([pathOf('skills/a')]);
      missing.length > 0;
      missing = resolver.missing([pathOf('skills/a')])
    ) {
      rounds.push(missing.sort())
      for (const oid of missing) read.add(oid)
    }
    expect(rounds).toEqual([['REUSE.toml'], ['skills/a/SKILL.md.license'], ['LICENSES/MIT.txt']])
    expect(resolver.resolve(pathOf('skills/a'), null).license.kind).toBe('open')
  })
})
