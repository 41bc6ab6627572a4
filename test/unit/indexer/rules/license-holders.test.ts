import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { recognizeLicenseText } from '#indexer/rules/license/index.ts'
import { APACHE, BSD, change, GPL, isOpen, MIT, textOf } from './license-texts.ts'

const heldBy = (statement: string) => change(MIT, /^Copyright.*$/m, statement)

describe('names of holders hold no terms', () => {
  test.each([
    'Copyright (c) 2026 Example AI, Inc.',
    'Copyright (c) 2024-2026 Example AI, Inc. All rights reserved.',
    'Copyright 2026 The Example AI Authors. All Rights Reserved.',
    'Copyright (c) 2024–present May Train Labs Ltd.',
    'Copyright (c) 2026 No Starch Press, Inc.',
    'Copyright (c) 2026 Not Diamond, Inc.',
    'Copyright (c) 2026 Individual Contributors',
    'Copyright (c) 2026 Nothing Technology Limited',
    'Copyright (c) 2026 Non-Profit AI e.V.',
    'Copyright (c) 2026 Dr. No',
    'Copyright (c) 2026 nobody',
    'Copyright (c) 2026 train',
    'Copyright (c) 2026 Apply AI',
    'Copyright (c) 2026 Terms Labs',
    'Copyright (c) 2026 Exclusive Books',
    'Copyright (c) 2026 Königliche May-Stiftung',
    'Copyright (c) 2026 May Mobility',
    'Copyright © 2026 Commercial Metals & Nuclear Research Institute',
    'Copyright 2026 Solo Kun, Bez Sin',
    '© 2026 Generative Training GmbH <hello@training.ai>',
    '(c) 2026 example-ai, https://example.ai/about',
    'Copyright (c) 2026 example ai',
    'COPYRIGHT (C) 2026 EXAMPLE AI, INC.',
    'Copyright Example AI, Inc.',
    'Copyright: The Example ML Team',
    'Copyright (c) 2023 Example\nCopyright (c) 2026 Dataset Labs\nPortions Copyright (c) 2026 Trial AI',
    'Copyright (c) 2026 Example AI, Inc.,\nTrain Labs,\nand Individual Contributors',
    'Copyright (c) 2026 by Example Institute\nand Military AI Institute (see AUTHORS file for details).\nAll rights reserved.',
    'Copyright (c) 2026\nExample AI, Inc.',
    'Copyright &copy; 2026 Example AI, Inc.',
    'Copyright (c) 2026 [Example AI](https://example.ai/no)',
    'Copyright (c) 2026 Functional Software, Inc. dba Example',
    'Copyright (c) 2026 Jane van der Doe, Isaac Doe and others',
    'Copyright (c) 2026 Jane Doe (@jdoe) and Isaac Z. Doe (i@example.me)',
    'Copyright (c) 2026-present Jane Doe and the Example contributors listed at <https://example.com/team> and in the README file.',
    'Copyright Contributors to the Example project.',
    'Copyright (c) 2026 Center for Open Science',
    'Copyright (c) Jane Doe <jane@example.com> (example.com)',
    'Copyright (c) 2026, Mozilla Foundation and contributors',
  ])('%s', statement => {
    expect(recognizeLicenseText(heldBy(statement))).toEqual({ kind: 'known', id: 'MIT' })
    expect(recognizeLicenseText(`${statement}\n\n${APACHE}`)).toEqual({ kind: 'known', id: 'Apache-2.0' })
  })

  test('a holder may be named in the headline and in the disclaimer, too', () => {
    const held = BSD.replace('<year> <owner>', '2026 Example AI, Inc.')
    const text = `Example AI, Inc.\n\n${held.replace('of the copyright holder', 'of Example AI, Inc.')}`
    expect(recognizeLicenseText(text)).toEqual({ kind: 'known', id: 'BSD-3-Clause' })
    const other = text.replace('of Example AI, Inc.', 'of Paid AI, Inc.')
    expect(isOpen(other)).toBe(false)
  })

  test('a holder may have the name of a license, and the disclaimer may leave out its subject', () => {
    const held = change(BSD, /^.*<owner>.*$/m, 'Copyright (c) 2026, Mozilla Foundation and contributors')
    const named = change(held, 'the copyright holder nor', 'the Mozilla Foundation nor')
    expect(recognizeLicenseText(named)).toEqual({ kind: 'known', id: 'BSD-3-Clause' })
    const short = named.replaceAll('THIS SOFTWARE', 'THIS')
    expect(recognizeLicenseText(short)).toEqual({ kind: 'known', id: 'BSD-3-Clause' })
  })

  test('a license on one line is recognised', () => {
    expect(recognizeLicenseText(heldBy('Copyright (c) 2026 Example AI, Inc.').replace(/\s+/g, ' '))).toEqual({
      kind: 'known',
      id: 'MIT',
    })
  })
})

describe('headings and credits hold no terms', () => {
  test.each([
    'example',
    'example-tools v2',
    'Copyright example, Inc.',
    'Example Tools for Node.js',
    'The Example team members are listed at https://github.com/example/example#team',
    'The complete list of contributors can be found at: https://example.com/contributors',
    'Original code by Jane Doe <jane@example.com>',
    'TypeScript port by Jane Doe',
    'Based on https://github.com/example/original',
    '- **Author**: Jane Doe\n- **Website**: [www.example.com](https://www.example.com)',
  ])('%s above a license', heading => {
    expect(recognizeLicenseText(`${heading}\n\n${MIT}`)).toEqual({ kind: 'known', id: 'MIT' })
    expect(recognizeLicenseText(`# ${heading}\n\n${APACHE}`)).toEqual({ kind: 'known', id: 'Apache-2.0' })
  })
})

describe('addresses hold no terms', () => {
  test.each([
    'https://example.ai',
    '<https://example.ai/train/no>',
    '[Example](https://not.example.com/ai/may)',
    'legal@example.ai',
    'Mail: Example AI <terms@example.ai>'.replace('Example AI ', ''),
  ])('%s below a license', address => {
    expect(recognizeLicenseText(`${MIT}\n\n${address}`)).toEqual({ kind: 'known', id: 'MIT' })
  })

  test('an address of the license that moved stays the same reference', () => {
    const moved = change(GPL, 'www.gnu.org/philosophy/why-not-lgpl.html', 'www.gnu.org/licenses/why-not-lgpl.html')
    expect(recognizeLicenseText(moved)).toEqual({ kind: 'known', id: 'GPL-3.0-only' })
  })
})

describe('the texts that git hosts offer', () => {
  const offered = createRequire(import.meta.url)('@rexxars/choosealicense-list').license as Record<string, { body: string }>
  const VALUES: Record<string, string> = {
    year: '2026',
    yyyy: '2026',
    fullname: 'Example AI, Inc.',
    'name of copyright owner': 'Example AI, Inc.',
    email: 'legal@example.ai',
    project: 'Example AI',
    projecturl: 'https://example.ai/train',
    login: 'example-ai',
  }
  const fill = (text: string) => text.replace(/\[([a-z ]+)\]/g, (field, name: string) => VALUES[name] ?? field)

  test.each(Object.entries(offered))('%s is recognised when it is filled', (id, { body }) => {
    const recognized = recognizeLicenseText(fill(body))
    expect(recognized).toMatchObject({ kind: 'known' })
    expect(recognized.kind === 'known' && recognized.id.replace(/-only$/, '')).toBe(id)
  })

  test.each(['MIT-0', 'BSD-2-Clause-Patent', 'BlueOak-1.0.0', 'CERN-OHL-P-2.0', 'GFDL-1.3-only', 'MulanPSL-2.0'])(
    '%s is recognised below a line of its holder',
    id => {
      expect(recognizeLicenseText(`Copyright (c) 2026 Example AI, Inc.\n\n${textOf(id)}`)).toEqual({ kind: 'known', id })
    },
  )

  test('a text in Chinese is recognised however its lines break', () => {
    const text = textOf('MulanPSL-2.0').replace(/(\p{Script=Han}{9})(?=\p{Script=Han})/gu, '$1\n')
    expect(recognizeLicenseText(text)).toEqual({ kind: 'known', id: 'MulanPSL-2.0' })
  })
})

describe('copies in Markdown', () => {
  test.each([
    ['headings and entities', (text: string) => text.replace(/^(\d)\. (.*)$/gm, '### $1. $2').replaceAll('"', '&quot;')],
    ['a numbered list', (text: string) => text.replace(/^( *)(\d)\./gm, '$1$2)')],
    ['bullets', (text: string) => text.replace(/^ *\d\. /gm, '* ')],
    ['links', (text: string) => text.replace(/\b(https?:\/\/[^\s<>)]+)/g, '&lt;<$1>&gt;')],
    ['emphasis', (text: string) => text.replace(/^([A-Z ]{8,})$/gm, '**$1**')],
    ['no title in between', (text: string) => text.replace(/GNU GENERAL PUBLIC LICENSE\s+(?=TERMS)/, '')],
  ])('with %s stay themselves', (_, write) => {
    for (const id of ['MIT', 'BSD-3-Clause', 'Apache-2.0', 'GPL-2.0-only', 'CC-BY-SA-4.0'])
      expect(recognizeLicenseText(write(textOf(id)))).toEqual({ kind: 'known', id })
  })
})
