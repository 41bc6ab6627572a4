import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLicenseFileName, isServedInFull, kindOfExpression, readLicenseWords } from '#indexer/rules/license/index.ts'

describe('declared words', () => {
  test.each([
    ['MIT', 'MIT'],
    [' MIT  license ', 'MIT'],
    ['mit', 'MIT'],
    ['The MIT License (MIT)', 'MIT'],
    ['Apache 2.0', 'Apache-2.0'],
    ['Apache-2.0 license', 'Apache-2.0'],
    ['Apache License, Version 2.0', 'Apache-2.0'],
    ['Apache License 2.0 (Apache-2.0)', 'Apache-2.0'],
    ['BSD-3-Clause license', 'BSD-3-Clause'],
    ['BSD 3-Clause "New" or "Revised" License', 'BSD-3-Clause'],
    ['The Unlicense', 'Unlicense'],
    ['GPLv3', 'GPL-3.0-only'],
    ['gpl-3.0', 'GPL-3.0'],
    ['unlicense', 'Unlicense'],
    ['CC BY-NC-SA 4.0', 'CC-BY-NC-SA-4.0'],
    ['Creative Commons Attribution 4.0 International', 'CC-BY-4.0'],
    ['MIT OR Apache-2.0', 'MIT OR Apache-2.0'],
    ['(MIT AND CC-BY-NC-4.0)', '(MIT AND CC-BY-NC-4.0)'],
    ['GPL-2.0-only WITH Classpath-exception-2.0', 'GPL-2.0-only WITH Classpath-exception-2.0'],
  ])('%s is %s', (words, expression) => {
    expect(readLicenseWords(words)).toEqual({ kind: 'expression', expression })
  })

  test.each([
    ['MIT.', 'MIT'],
    ['"MIT"', 'MIT'],
    ['`Apache-2.0`', 'Apache-2.0'],
    ['Licensed under MIT', 'MIT'],
    ['Licensed under the Apache License, Version 2.0.', 'Apache-2.0'],
    ['Released under the terms of the MIT License', 'MIT'],
    ['SPDX-License-Identifier: MIT', 'MIT'],
    ['MIT/Apache-2.0', 'MIT OR Apache-2.0'],
    ['MIT / Apache 2.0', 'MIT OR Apache-2.0'],
    ['Dual MIT/Apache-2.0', 'MIT OR Apache-2.0'],
    ['MIT or Apache License 2.0', 'MIT OR Apache-2.0'],
    ['either MIT or Apache 2.0, at your option', 'MIT OR Apache-2.0'],
    ['MIT, BSD-3-Clause and ISC', 'MIT AND BSD-3-Clause AND ISC'],
    ['MIT/CC-BY-NC-4.0', 'MIT AND CC-BY-NC-4.0'],
    ['CC-BY-4.0/CC-BY-NC-4.0', 'CC-BY-4.0 AND CC-BY-NC-4.0'],
    ['MIT / BUSL-1.1', 'MIT AND BUSL-1.1'],
    ['Apache-2.0 & CC BY 4.0', 'Apache-2.0 AND CC-BY-4.0'],
    ['3-clause BSD license', 'BSD-3-Clause'],
    ['GPL2+', 'GPL-2.0-or-later'],
    ['GNU General Public License v2', 'GPL-2.0-only'],
    ['GNU GPL v3 or later', 'GPL-3.0-or-later'],
    ['AGPLv3+', 'AGPL-3.0-or-later'],
    ['LGPL 2.1', 'LGPL-2.1-only'],
    ['https://opensource.org/licenses/MIT', 'MIT'],
    ['http://www.opensource.org/licenses/mit-license.php', 'MIT'],
    ['https://opensource.org/license/apache-2-0/', 'Apache-2.0'],
    ['https://spdx.org/licenses/BSD-3-Clause.html', 'BSD-3-Clause'],
    ['https://choosealicense.com/licenses/isc/', 'ISC'],
    ['https://www.apache.org/licenses/LICENSE-2.0', 'Apache-2.0'],
    ['https://www.gnu.org/licenses/gpl-3.0.en.html', 'GPL-3.0'],
    ['https://creativecommons.org/licenses/by/4.0/', 'CC-BY-4.0'],
    ['https://creativecommons.org/licenses/by-nc-sa/4.0/deed.de', 'CC-BY-NC-SA-4.0'],
    ['https://creativecommons.org/publicdomain/zero/1.0/', 'CC0-1.0'],
    ['https://unlicense.org', 'Unlicense'],
    ['[MIT](https://opensource.org/licenses/MIT)', 'MIT'],
    ['MIT (https://opensource.org/licenses/MIT)', 'MIT'],
    ['MIT - https://opensource.org/licenses/MIT', 'MIT'],
  ])('%s declares %s', (words, expression) => {
    expect(readLicenseWords(words)).toEqual({ kind: 'expression', expression })
  })

  test.each([
    ['Apache-2.0. See LICENSE for complete terms.', 'Apache-2.0', 'LICENSE'],
    ['Apache-2.0 (see LICENSE)', 'Apache-2.0', 'LICENSE'],
    ['MIT (see LICENSE.txt for details).', 'MIT', 'LICENSE.txt'],
    ['MIT license, see ../LICENSE', 'MIT', '../LICENSE'],
    ['MIT – see LICENSE', 'MIT', 'LICENSE'],
    ['MIT; complete terms in LICENSE.txt', 'MIT', 'LICENSE.txt'],
    ['Licensed under MIT. LICENSE.txt has complete terms', 'MIT', 'LICENSE.txt'],
    ['MIT OR Apache-2.0 (see LICENSE)', 'MIT OR Apache-2.0', 'LICENSE'],
    ['CC BY-NC 4.0 - see LICENSE.md', 'CC-BY-NC-4.0', 'LICENSE.md'],
    ['[MIT](LICENSE)', 'MIT', 'LICENSE'],
  ])('%s declares %s and points to %s', (words, expression, file) => {
    expect(readLicenseWords(words)).toEqual({ kind: 'expression', expression, file })
  })

  test.each([
    ['LICENSE', 'LICENSE'],
    ['LICENSE.txt', 'LICENSE.txt'],
    ['./LICENSE.md', 'LICENSE.md'],
    ['../LICENSE', '../LICENSE'],
    ['/LICENSE', '/LICENSE'],
    ['legal/terms.md', 'legal/terms.md'],
    ['LICENSE-MIT', 'LICENSE-MIT'],
    ['Complete terms in LICENSE.txt', 'LICENSE.txt'],
    ['SEE LICENSE IN LICENSE.md', 'LICENSE.md'],
    ['see TERMS.md', 'TERMS.md'],
    ['See the LICENSE file for details.', 'LICENSE'],
    ['LICENSE.txt has complete terms', 'LICENSE.txt'],
  ])('%s points to %s', (words, file) => {
    expect(readLicenseWords(words)).toEqual({ kind: 'file', file })
  })

  test.each([
    'Proprietary',
    'Proprietary. LICENSE.txt has complete terms',
    'UNLICENSED',
    'Copyright Example, all rights reserved',
  ])('%s is restricted', words => {
    expect(readLicenseWords(words)).toEqual({ kind: 'restricted' })
  })

  test.each([
    '',
    'Unknown',
    'SD-3-Clause license',
    'not MIT',
    'MIT-ish',
    'MIT?',
    'MIT with Commons Clause',
    'MIT (non-commercial)',
    'MIT, except images',
    'Apache',
    'BSD',
    'GPL',
    'public domain',
    'https://example.com/LICENSE',
    'https://example.com/LICENSE.txt',
    'see below',
    'MIT and others, see LICENSE',
    'MIT. Additional terms in TERMS.md',
    'MIT (see https://example.com/terms)',
    'MIT (https://creativecommons.org/licenses/by-nc/4.0/)',
    'MIT or something else',
    'MIT/Commercial',
    'Licensed under your agreement',
    'MIT, not for training',
    'MIT. No commercial use. See LICENSE',
    'https://opensource.org/licenses',
    'https://opensource.org.example.com/licenses/MIT',
    'https://example.com/?https://opensource.org/licenses/MIT',
    'https://github.com/example/tools/blob/main/LICENSE',
    'Not declared',
    '(((',
    `${'('.repeat(100_000)}MIT`,
    `MIT${' OR MIT'.repeat(100_000)}`,
    `LICENSE${'-a'.repeat(190)} other`,
  ])('%.40s is unknown', words => {
    expect(readLicenseWords(words)).toEqual({ kind: 'unknown' })
  })

  test('any words get an answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), words => {
        expect(['expression', 'file', 'restricted', 'unknown']).toContain(readLicenseWords(words).kind)
      }),
    )
  })
})

describe('serving under a license', () => {
  test.each([
    ['MIT', 'open'],
    ['CC0-1.0', 'open'],
    ['CC-BY-3.0-AU', 'open'],
    ['CC-BY-SA-4.0', 'open'],
    ['PDDL-1.0', 'open'],
    ['CDLA-Permissive-2.0', 'open'],
    ['WTFPL', 'open'],
    ['BSD-4-Clause', 'open'],
    ['BlueOak-1.0.0', 'open'],
    ['GFDL-1.3-no-invariants-only', 'open'],
    ['GPL-2.0+', 'open'],
    ['GPL-2.0-only WITH Classpath-exception-2.0', 'open'],
    ['MIT OR BUSL-1.1', 'open'],
    ['MIT AND Apache-2.0', 'open'],
    ['MIT AND (BUSL-1.1 OR ISC)', 'open'],
    ['MIT AND BUSL-1.1', 'restricted'],
    ['CC-BY-NC-4.0', 'restricted'],
    ['CC-BY-ND-4.0', 'restricted'],
    ['CC-BY-NC-SA-3.0', 'restricted'],
    ['SSPL-1.0', 'restricted'],
    ['Elastic-2.0', 'restricted'],
    ['FSL-1.1-MIT', 'restricted'],
    ['JSON', 'restricted'],
    ['BSD-3-Clause-No-Nuclear-License', 'restricted'],
    ['GFDL-1.3-invariants-only', 'restricted'],
    ['LicenseRef-Example', 'restricted'],
    ['Commons-Clause', null],
    ['MIT License', null],
    ['', null],
  ])('%s is %s', (expression, kind) => {
    expect(kindOfExpression(expression)).toBe(kind)
  })

  test('the operator opens and closes ids, and closing wins', () => {
    expect(kindOfExpression('BUSL-1.1', { allow: ['BUSL-1.1'] })).toBe('open')
    expect(kindOfExpression('GPL-3.0-only', { deny: ['GPL-3.0-only'] })).toBe('restricted')
    expect(kindOfExpression('MIT', { allow: ['MIT'], deny: ['MIT'] })).toBe('restricted')
  })

  test('private repositories are served in full, public ones if the license is open, or if there is none and the operator decides so', () => {
    const license = (kind: 'open' | 'restricted' | 'unknown' | 'none') => ({ kind, name: null, source: null })
    expect(isServedInFull(license('restricted'), 'private')).toBe(true)
    expect(isServedInFull(license('open'), 'public')).toBe(true)
    expect(isServedInFull(license('restricted'), 'public', { unlicensed: 'serve' })).toBe(false)
    expect(isServedInFull(license('unknown'), 'public', { unlicensed: 'serve' })).toBe(false)
    expect(isServedInFull(license('none'), 'public')).toBe(false)
    expect(isServedInFull(license('none'), 'public', { unlicensed: 'serve' })).toBe(true)
  })
})

describe('names of license files', () => {
  test.each([
    'LICENSE',
    'LICENCE',
    'COPYING',
    'UNLICENSE',
    'LICENSE.md',
    'LICENSE.txt',
    'COPYING.rst',
    'LICENSE-MIT',
    'LICENSE-APACHE.txt',
    'LICENSE.MIT',
    'LICENSE-DOCS.md',
    'LICENSE-APACHE-2.0',
  ])('%s is one everywhere', name => {
    expect(isLicenseFileName(name, false)).toBe(true)
    expect(isLicenseFileName(name, true)).toBe(true)
  })

  test.each(['license', 'License.md', 'copying.txt', 'license-mit'])('%s is one at the root and in a skill folder only', name => {
    expect(isLicenseFileName(name, false)).toBe(false)
    expect(isLicenseFileName(name, true)).toBe(true)
  })

  test.each([
    'LICENSE.html',
    'license.py',
    'LICENSE.png',
    'LICENSES',
    'licensed.md',
    'NOTICE',
    'LICENSE-THIRD-PARTY',
    'THIRD_PARTY_LICENSE',
    'LICENSE-header.go',
    'LICENSE_3RD.txt',
  ])('%s is none', name => {
    expect(isLicenseFileName(name, true)).toBe(false)
  })
})
