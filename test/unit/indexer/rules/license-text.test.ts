import { describe, expect, test } from 'vitest'
import { kindOfExpression, recognizeLicenseText } from '#indexer/rules/license/index.ts'
import { APACHE, BSD, CC_BY, change, GPL, isOpen, licenses, MIT, textOf } from './license-texts.ts'

describe('canonical texts', () => {
  // The licenses that choosealicense.com offers, and what a text says that does not tell "only" from "or later".
  const CANONICAL =
    `0BSD AFL-3.0 AGPL-3.0-only Apache-2.0 Artistic-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-2-Clause-Patent BSD-3-Clause
    BSD-3-Clause-Clear BSD-4-Clause BSL-1.0 CC-BY-4.0 CC-BY-SA-4.0 CC0-1.0 CECILL-2.1 CERN-OHL-P-2.0 CERN-OHL-S-2.0 CERN-OHL-W-2.0
    ECL-2.0 EPL-1.0 EPL-2.0 EUPL-1.1 EUPL-1.2 GFDL-1.3-only GPL-2.0-only GPL-3.0-only ISC LGPL-2.1-only LGPL-3.0-only LPPL-1.3c
    MIT MIT-0 MPL-2.0 MS-PL MS-RL MulanPSL-2.0 NCSA ODbL-1.0 OFL-1.1 OSL-3.0 PostgreSQL Unlicense UPL-1.0 Vim WTFPL Zlib`.split(
      /\s+/,
    )
  const CLOSED =
    `BUSL-1.1 CC-BY-NC-4.0 CC-BY-ND-4.0 CC-BY-NC-SA-4.0 CC-BY-NC-ND-4.0 Elastic-2.0 FSL-1.1-MIT FSL-1.1-ALv2 Hippocratic-2.1
    JSON Parity-7.0.0 PolyForm-Noncommercial-1.0.0 PolyForm-Small-Business-1.0.0 SSPL-1.0 BSD-3-Clause-No-Nuclear-License
    BSD-3-Clause-No-Military-License`.split(/\s+/)

  test.each(CANONICAL)('%s is recognised', id => {
    expect(recognizeLicenseText(textOf(id))).toEqual({ kind: 'known', id })
  })

  test.each(CLOSED)('%s is recognised and stays closed', id => {
    const recognized = recognizeLicenseText(textOf(id))
    expect(recognized).toEqual({ kind: 'known', id })
    expect(kindOfExpression(id)).toBe('restricted')
  })

  test('no text of the SPDX list is mistaken for another open license', () => {
    const wrong = Object.keys(licenses).filter(id => kindOfExpression(id) === 'restricted' && isOpen(textOf(id)))
    expect(wrong).toEqual([])
  })

  test.each([
    ['other line breaks', (text: string) => text.replace(/\s*\n\s*/g, ' ')],
    ['windows line breaks', (text: string) => text.replaceAll('\n', '\r\n')],
    ['comment marks', (text: string) => text.replace(/^/gm, ' * ')],
    ['a quote in markdown', (text: string) => text.replace(/^/gm, '> ')],
    ['capitals', (text: string) => text.toUpperCase()],
    ['curly quotes', (text: string) => text.replaceAll('"', '”').replaceAll("'", '’')],
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    ['a heading', (text: string) => `# The software of Example\n\n${text}`],
    [
      'lines of copyright',
      (text: string) =>
        `Copyright (c) 2020-present Jörg Ćirić, 山田太郎 & contributors. All rights reserved.\n© 2019 Example Inc.\n\n${text}`,
    ],
  ])('a license stays itself with %s', (_, transform) => {
    expect(recognizeLicenseText(transform(MIT))).toEqual({ kind: 'known', id: 'MIT' })
    expect(recognizeLicenseText(transform(change(BSD, /^.*<owner>.*\n/m, '')))).toEqual({ kind: 'known', id: 'BSD-3-Clause' })
    expect(recognizeLicenseText(transform(CC_BY))).toEqual({ kind: 'known', id: 'CC-BY-4.0' })
  })

  test('the notice of a source file stands for its license', () => {
    const notice = APACHE.slice(APACHE.indexOf('Licensed under the Apache License'))
    expect(recognizeLicenseText(`Copyright 2023 Example, Inc.\n\n${notice}`)).toEqual({ kind: 'known', id: 'Apache-2.0' })
    const gnu = GPL.match(/This program is free software[\s\S]*?<https:[^>]*>/)?.[0] ?? ''
    expect(recognizeLicenseText(gnu)).toEqual({ kind: 'known', id: 'GPL-3.0-or-later' })
  })

  test('a license without its appendix or preamble is recognised', () => {
    expect(recognizeLicenseText(APACHE.slice(0, APACHE.indexOf('APPENDIX')))).toEqual({ kind: 'known', id: 'Apache-2.0' })
    expect(recognizeLicenseText(CC_BY.slice(CC_BY.indexOf('Creative Commons Attribution 4.0 International Public')))).toEqual({
      kind: 'known',
      id: 'CC-BY-4.0',
    })
  })

  test('the heading of another open license leaves the license of the text', () => {
    expect(recognizeLicenseText(`# MIT License\n\n${BSD}`)).toEqual({ kind: 'known', id: 'BSD-3-Clause' })
  })
})
