import { describe, expect, test } from 'vitest'
import { APACHE, BSD, CC_BY, change, GPL, ISC, isOpen, MIT, MPL, textOf } from './license-texts.ts'

const COPYRIGHT = /^Copyright.*$/m
/** MIT with another copyright line. */
const heldBy = (statement: string) => change(MIT, COPYRIGHT, statement)
const AFTER_TITLE = /(?<=MIT License\n)/

describe('a text that permits no copy stays closed', () => {
  const CLOSED_TEXTS: Record<string, string> = {
    'a sentence behind the holder': heldBy('Copyright 2026 Example. You may not use this for training AI'),
    'a sentence behind a holder of that name': heldBy('Copyright (c) 2026 Example AI, Inc. No AI training.'),
    'a sentence in title case': heldBy('Copyright (c) 2026 Example AI. Not For Training'),
    'a sentence in capitals': heldBy('COPYRIGHT (C) 2026 EXAMPLE AI. NOT FOR COMMERCIAL USE'),
    'a holder that is a restriction': heldBy('Copyright (c) 2026 No Commercial Use'),
    'a holder that is a word of restriction': heldBy('Copyright (c) 2026 Example Noncommercial'),
    'a holder that ends with a restriction': heldBy('Copyright (c) 2026 Research Only'),
    'a holder that begins with a restriction': heldBy('Copyright (c) 2026 Only Members'),
    'a restriction whose word also stands in a handle': heldBy('Copyright (c) 2026 example-commercial, commercial'),
    'a scope behind the holder': heldBy('Copyright (c) 2026 Example. Evaluation copy'),
    'a title-case sentence behind the holder': heldBy('Copyright (c) 2026 Example. Commercial Use Requires A License'),
    'a ban in an address without marks': `${MIT}\n\nhttps://example.com/notForCommercialUse`,
    'a ban in an address with escapes': `${MIT}\n\nhttps://example.com/not%20for%20training`,
    'a ban in the query of an address': `${MIT}\n\nhttps://example.com/?q=you+may+not+train`,
    'a second sentence that begins like a name': heldBy('Copyright (c) 2026 Example. Members Only'),
    'a condition on the line that goes on': heldBy('Copyright (c) 2026 Example,\nused with permission only'),
    'a condition on a line that begins with "and"': heldBy('Copyright (c) 2026 Example\nand not to be sold'),
    'a condition below a line without a holder': heldBy('Copyright (c) 2026\nAll uses need consent'),
    'a condition in a holder of several lines': heldBy('Copyright (c) 2026 Example AI, Inc.,\nTrain Labs,\nno redistribution'),
    'a parenthesis behind the holder': heldBy('Copyright (c) 2026 Example (evaluation use only)'),
    'a comment behind a sign of copyright': heldBy('© 2026 Example – internal use'),
    'a comment behind portions': heldBy('Portions Copyright (c) 2026 Example, commercial terms apply'),
    'a paid license in the copyright line': heldBy('Copyright (c) 2026 Example. Commercial license available.'),
    'a condition in an address of the copyright line': heldBy(
      'Copyright (c) 2026 Example <https://example.com/no-commercial-use>',
    ),
    'a condition in a mail address': heldBy('Copyright (c) 2026 Example <not-for-training@example.com>'),
    'a link to terms in the copyright line': heldBy('Copyright (c) 2026 Example (https://example.ai/terms)'),
    'a holder that denies, in the permission': change(
      heldBy('Copyright (c) 2026 Not Permitted'),
      'hereby granted',
      'hereby not permitted granted',
    ),
    'a holder that narrows the permission': change(heldBy('Copyright (c) 2026 Paid Members'), 'any person', 'any paid members'),
    'a ban spelled out in an address': `${MIT}\n\nhttps://example.com/you-may-not-train-ai`,
    'a link to a paid license': `${MIT}\n\nhttps://example.com/commercial-license`,
    'a link to a subscription': `${MIT}\n\nhttps://example.com/subscription`,
    'a Markdown link to another license': `${MIT}\n\n[CC](https://creativecommons.org/licenses/by-nc/4.0/)`,
    'a Markdown link whose text restricts': `${MIT}\n\n[not for training](https://example.com)`,
    'a ban on training in the title': change(MIT, AFTER_TITLE, '(not for AI training)\n'),
    'a ban on training in a list': `${MIT}\n\n- no training of models`,
    'a ban on training in a footnote': `${MIT}\n\n[^1]: Training is excluded.`,
    'a ban on training in markup': `${MIT}\n\n<p>Not for <b>AI</b> training</p>`,
    'a ban on training in references of HTML': `${MIT}\n\nNot&nbsp;for&nbsp;training`,
    'a ban in a hidden comment': `${MIT}\n<!-- not for resale -->`,
    'a ban behind a known address': `${GPL}\n\n51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA. No resale.`,
    'a source-available license': `Example Source Available License\n\nYou may read the source. You may not copy, modify or distribute it.`,
    'a source-available license that looks like MIT': change(
      MIT,
      'without restriction, including without limitation the rights to use',
      'for reading only, including without limitation the rights to use',
    ),
    'a field of use': change(ISC, 'for any purpose', 'for any medical purpose'),
    'a limit on the number of users': `${MIT}\n\nTeams of more than ten users need a paid plan.`,
    'personal use only': `Personal Use License\n\n${MIT}`.replace('any person', 'any person for personal use'),
    'no redistribution': change(MIT, 'publish, distribute, sublicense, and/or sell', 'and run'),
    'the Commons Clause in one line': `${APACHE}\n\nThe License does not grant You the right to Sell the Software (Commons Clause).`,
    'a delayed license': `This becomes available under the MIT License on 2030-01-01. Until then, all rights reserved.\n\n${MIT}`,
    'an acceptable-use policy': `${APACHE}\n\nUse is subject to the acceptable use policy.`,
    'a non-compete': `${BSD}\n\nYou may not offer this as a competing service.`,
    'an expiry': `${MIT}\n\nThis permission ends on 31 December 2026.\nAfter that date all copies must be destroyed.`,
    'a restriction in Japanese': `${MIT}\n\n商用利用を禁止します。`,
    'a restriction in Korean': `${MIT}\n\n상업적 이용 금지`,
    'a restriction in Portuguese': `${MIT}\n\nUso comercial proibido.`,
    'a restriction in Polish': `${MIT}\n\nTylko do użytku prywatnego.`,
    'a restriction in Turkish in the copyright line': heldBy('Copyright (c) 2026 Example. Ticari kullanım yasak'),
    'a restriction in Chinese around a holder': heldBy('Copyright (c) 2026 示例公司 不得用于训练'),
    'the images left out': change(CC_BY, /^/, 'Pictures and icons are not covered.\n\n'),
    'a deed instead of the license': 'You are free to share and adapt, under these terms: attribution, noncommercial.',
    'the heading and a sentence': 'MIT License\n\nCopyright 2026 Example AI. Ask before you copy.',
    'all rights reserved behind the license': `${MIT}\n\nProprietary and confidential.`,
    'a trial': `${textOf('Zlib')}\n\nThis trial ends after 30 days.`,
  }

  test('the corpus has its texts', () => {
    expect(Object.keys(CLOSED_TEXTS).length).toBeGreaterThanOrEqual(40)
  })

  test.each(Object.entries(CLOSED_TEXTS))('%s', (_, text) => {
    expect(isOpen(text)).toBe(false)
  })

  test.each([
    'Example. Ask for a license',
    'Example. Licensed separately',
    'Example. Internal copy',
    'Example. Visitors look, buyers copy',
    'Example, licensed to members',
    'Example for members',
    'Example - students',
    'Example (students)',
    'Example. Hands off',
    'Example. Please ask first.',
    'Example. Patent pending',
    'Example. Sharing is a crime',
    'Example; redistribution via example.com',
    'Example, personal edition',
    'Example. Expires 2027',
    'Example, valid until 2027',
    'Example as long as they agree',
    'Example. Read it',
    'Reserved For Members',
    'Example. Students of Example University',
    'Example\nand friends who asked',
    'Example, Hands Off',
    'Example, see LEGAL.md',
    'Example - Closed Source',
    'Example (Draft)',
    'Example – MEMBERS',
  ])('a copyright statement with more than names: %s', words => {
    expect(isOpen(heldBy(`Copyright (c) 2026 ${words}`))).toBe(false)
    expect(isOpen(`Copyright (c) 2026 ${words}\n\n${APACHE}`)).toBe(false)
  })

  test.each([
    'Ask Jane first.',
    'Hands off.',
    'Members.',
    'For members of Example.',
    'This is for Example Inc.',
    'This belongs to Example.',
    'Reading is fine.',
    'Now closed source.',
    'Source-available.',
    'Closed Source',
    'The license above is withdrawn.',
    'Old releases: see above. New releases: closed.',
    'See LEGAL.md',
    'Covers src.',
    'From 2030 on.',
    'Effective 2030',
    'Template.',
    'TODO: decide.',
    'Robots keep out.',
    'Email jane@example.com first.',
    'Kaupallinen käyttö kielletty.',
    'Komerční použití zakázáno.',
    'Kereskedelmi célra tilos.',
    'Dilarang untuk penggunaan komersial.',
    'Bitte vorher fragen.',
    'Demander à Jane avant.',
    'Wszelkie prawa zastrzeżone.',
  ])('a sentence of ordinary words beside a license: %s', sentence => {
    for (const text of [MIT, APACHE, BSD, CC_BY, GPL]) {
      expect(isOpen(`${text}\n\n${sentence}`)).toBe(false)
      expect(isOpen(`${sentence}\n\n${text}`)).toBe(false)
    }
    expect(isOpen(change(MIT, AFTER_TITLE, `(${sentence})\n`))).toBe(false)
    expect(isOpen(change(APACHE, 'Copyright [yyyy]', `${sentence}\n\nCopyright [yyyy]`))).toBe(false)
  })

  test.each([
    ['Apache for members', APACHE, 'hereby grants to You', 'hereby grants to Members'],
    ['BSD of sources alone', BSD, 'in source and binary forms', 'in source forms'],
    ['CC-BY of a part', CC_BY, 'in whole or in part', 'in part'],
    ['CC0 that considers a waiver', textOf('CC0-1.0'), 'unconditionally waives', 'unconditionally considers'],
    ['CC0 that may end', textOf('CC0-1.0'), 'permanently, irrevocably', 'permanently, revocably'],
    ['WTFPL of other copies', textOf('WTFPL'), 'verbatim or modified', 'partial or modified'],
    ['Boost without execution', textOf('BSL-1.0'), 'distribute, execute, and transmit', 'distribute, and transmit'],
    ['MPL that keeps its code', MPL, 'reproduce, make available, modify', 'reproduce, modify'],
  ])('a word of the permission is missing: %s', (_, license, from, to) => {
    expect(isOpen(change(license, from, to))).toBe(false)
  })

  test.each(['N O T  F O R  S A L E', 'n o t f o r s a l e', 'N.O.T F.O.R S.A.L.E'])('letters that spell words: %s', letters => {
    expect(isOpen(`${MIT}\n\n${letters}`)).toBe(false)
  })

  test.each(['BSD-2-Clause', 'BSD-3-Clause'])('%s without its first sentence, which grants', id => {
    expect(isOpen(change(textOf(id), /Redistribution and use[\s\S]*?provided that the following/, 'The following'))).toBe(false)
  })

  test.each([
    'Licensed under either of MIT or Apache-2.0 at your option. Ask Jane first.',
    'Dual-licensed: the old code MIT or Apache-2.0, the skills belong to Example.',
    'Dual-licensed under MIT or Apache-2.0. Since 2025 closed source.',
    'Dual licensed: MIT or Apache-2.0. Hobbyists take MIT, everybody else calls Jane.',
  ])('an offer with another sentence: %s', text => {
    expect(isOpen(text)).toBe(false)
  })

  test.each(['note: ask us before you copy', 'conditions:\n  - readers buy a seat', 'audience: students'])(
    'a page of a license with other metadata: %s',
    line => {
      expect(isOpen(`---\ntitle: MIT License\nspdx-id: MIT\n---\n${MIT}`)).toBe(true)
      expect(isOpen(`---\ntitle: MIT License\nspdx-id: MIT\n${line}\n---\n${MIT}`)).toBe(false)
    },
  )
})
