import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LICENSE_TEXT_BYTES, recognizeLicenseText } from '#indexer/rules/license/index.ts'
import { APACHE, BSD, CC_BY, change, GPL, ISC, isOpen, MIT, MPL, textOf } from './license-texts.ts'

const COMMONS_CLAUSE = `"Commons Clause" License Condition v1.0

The Software is provided to you by the Licensor under the License, as defined below, subject to the following condition.
Without limiting other conditions in the License, the grant of rights under the License will not include, and the License does not
grant to you, the right to Sell the Software.`

const CLOSED_TEXTS: Record<string, string> = {
  'MIT and Commons Clause': `${MIT}\n\n${COMMONS_CLAUSE}`,
  'Commons Clause and MIT': `${COMMONS_CLAUSE}\n\n${MIT}`,
  'MIT with Commons Clause in the title': change(MIT, 'MIT License', 'MIT License with Commons Clause'),
  'Apache and one sentence at the end': `${APACHE}\n\nThis software may only be used for evaluation.`,
  'Apache and one sentence at the beginning': `Use by companies with more than 50 employees needs a paid agreement.\n\n${APACHE}`,
  'Apache and one sentence inside': change(
    APACHE,
    'to reproduce, prepare Derivative Works of',
    'for internal purposes to reproduce, prepare Derivative Works of',
  ),
  'Apache and a sentence in the appendix': change(
    APACHE,
    'Copyright [yyyy]',
    'Commercial hosting is excluded.\n\nCopyright [yyyy]',
  ),
  'CC-BY except images': `The contents of this repository, except for all image files, are licensed under CC BY 4.0.\n\n${CC_BY}`,
  'CC-BY whose images belong to others': `Images are property of their owners.\n\n${CC_BY}`,
  'CC-BY headed as non-commercial': `# CC BY-NC 4.0\n\n${CC_BY}`,
  'CC-BY with a non-commercial condition': change(
    CC_BY,
    'A. reproduce and Share the Licensed Material',
    'A. reproduce and Share the Licensed Material for NonCommercial purposes',
  ),
  'CC-BY with a ban on training': `${CC_BY}\n\nTraining of language models on the Licensed Material is excluded.`,
  'MIT for non-commercial use': change(MIT, 'to use, copy', 'to use for non-commercial purposes, copy'),
  'MIT with one word': change(MIT, 'without limitation the rights', 'without limitation the noncommercial rights'),
  'MIT without one word': change(MIT, 'modify, ', ''),
  'MIT without selling': change(MIT, ', sublicense, and/or sell', ''),
  'MIT for a charge': change(MIT, 'free of charge', 'for a charge'),
  'MIT with restriction': change(MIT, 'without restriction', 'with restriction'),
  'MIT never granted': change(MIT, 'is hereby granted', 'is never granted'),
  'MIT for some': change(MIT, 'any person obtaining', 'each paying person obtaining'),
  'MIT for Norwegians': change(MIT, 'any person obtaining', 'any Norwegian person obtaining'),
  'MIT for tinkering': change(MIT, 'to deal in', 'to tinker in'),
  'MIT with a link to terms': `${MIT}\n\nSee https://example.com/terms`,
  'MIT with a sentence in a line of copyright': change(
    MIT,
    /^Copyright.*$/m,
    'Copyright (c) 2024 Example. Companies need a written agreement.',
  ),
  'MIT with escaped letters': change(MIT, 'hereby granted', 'hereby &#110;ot granted'),
  'MIT for another thing': MIT.replaceAll(/software/gi, 'Skill'),
  'MIT for people, not for AI': `${MIT}\n\nUse for training of AI models is prohibited.`,
  'MIT with a ban on crawlers': `${MIT}\n\nMachine learning on this work requires consent.`,
  'MIT with an ethical condition': `${MIT}\n\nThe Software shall be used for Good, not Evil.`,
  'MIT with additional terms': change(
    MIT,
    'subject to the following conditions',
    'subject to the following additional terms and to the following conditions',
  ),
  'MIT with terms elsewhere': `${MIT}\n\nSubject to the additional terms in TERMS.md.`,
  'MIT with an agreement elsewhere': `${MIT}\n\nSee EULA.txt`,
  'MIT with a link to terms elsewhere': `${MIT}\n\nhttps://example.com/commercial/eula.html`,
  'MIT for parts': `The MIT License applies to the folder src.\n\n${MIT}`,
  'MIT for others': `Third-party code is licensed as follows:\n\n${MIT}`,
  'MIT that ends': `${MIT}\n\nThis license terminates after 30 days.`,
  'MIT with a term in a line of copyright': change(MIT, /^Copyright.*$/m, 'Copyright (c) 2024 Example. Non-commercial use only.'),
  'MIT with a foreign license in a line of copyright': change(
    MIT,
    /^Copyright.*$/m,
    'Copyright (c) 2024 Example, licensed under GPL',
  ),
  'MIT with a numbered condition': change(MIT, 'The above copyright', '(c) You may use it at home.\n\nThe above copyright'),
  'MIT with a condition in Chinese': `${MIT}\n\n禁止用于商业用途。`,
  'MIT with a condition in Chinese in a line of copyright': change(MIT, /^Copyright.*$/m, 'Copyright (c) 2024 王小明 禁止商用'),
  'MIT with a condition in Russian': `${MIT}\n\nКоммерческое использование запрещено.`,
  'MIT with a condition in German': `${MIT}\n\nKommerzielle Nutzung untersagt.`,
  'MIT with a condition in French': `${MIT}\n\nUsage commercial interdit.`,
  'MIT with a condition in Spanish': `${MIT}\n\nProhibido el uso comercial.`,
  'MIT with lookalike letters': change(MIT, 'hereby granted', 'hereby nоt granted'),
  'MIT with letters split by invisible ones': change(MIT, 'hereby granted', 'hereby n\u200bo\u00adt granted'),
  'MIT with wide letters': change(MIT, 'hereby granted', 'hereby ｎｏｔ granted'),
  'MIT struck out': `~~${MIT}~~\n\nAsk us.`,
  'MIT in a comment': `<!-- ${MIT} -->`,
  'MIT with turned writing direction': change(MIT, 'hereby granted', 'hereby \u202edetnarg\u202c'),
  'MIT in the front matter of a page that says otherwise': `---\ntitle: MIT\nspdx-id: MIT\ndescription: Only at home, never commercially.\n---\n${MIT}`,
  'MIT as the page of another license': `---\ntitle: Closed\nspdx-id: CC-BY-NC-4.0\n---\n${MIT}`,
  'MIT twice': `${MIT}\n\n${MIT}`,
  'MIT and Apache': `${MIT}\n\n${APACHE}`,
  'MIT and ISC': `${MIT}\n\n${ISC}`,
  'MIT and its non-commercial sibling': `${MIT}\n\n${textOf('CC-BY-NC-4.0')}`,
  'MIT, dual licensed': `${MIT}\n\nNote on dual licensing: the texts are licensed under CC-BY-4.0 unless otherwise specified.`,
  'the heading of MIT over a non-commercial license': `MIT License\n\n${textOf('CC-BY-NC-4.0')}`,
  'the heading of MIT over a reservation': 'MIT License\n\nCopyright 2024 Example. All rights reserved.\nCopying is prohibited.',
  'the heading of MIT alone': 'MIT License\n',
  'the first half of MIT': MIT.slice(0, MIT.length / 2),
  'the second half of MIT': MIT.slice(MIT.length / 2),
  'MIT without its warranty': MIT.slice(0, MIT.indexOf('THE SOFTWARE IS PROVIDED')),
  'the first half of Apache': APACHE.slice(0, APACHE.length / 2),
  'Apache without its grant of copyright': change(APACHE, /2\. Grant of Copyright[\s\S]*?(?=3\. Grant)/, ''),
  'Apache without the right to distribute': change(APACHE, 'sublicense, and distribute the Work', 'sublicense the Work'),
  'Apache with a fee': change(APACHE, 'no-charge, royalty-free', 'royalty-bearing'),
  'BSD with a field of use': change(BSD, 'are permitted provided', 'for academic purposes are permitted provided'),
  'BSD with a fourth condition': change(BSD, 'THIS SOFTWARE', '4. Military use is forbidden.\n\nTHIS SOFTWARE'),
  'BSD without modification': change(BSD, 'with or without modification', 'without modification'),
  'BSD not permitted': change(BSD, 'are permitted', 'are not permitted'),
  'BSD for nuclear facilities': `${BSD}\n\nYou acknowledge that this software is not designed for use in any nuclear facility.`,
  'ISC with a fee': change(ISC, 'with or without fee', 'with fee'),
  'ISC for one purpose': change(ISC, 'any purpose', 'educational purpose'),
  'MPL with an exhibit': `${MPL}\n\nExhibit C - Hosting the software as a service requires a subscription.`,
  'GPL with a further restriction': `${GPL}\n\nYou may not sell copies of this program.`,
  'GPL with a rider': `The licensor offers this under the following license. Production use by companies needs a contract.\n\n${GPL}`,
  'Unlicense for some': change(textOf('Unlicense'), 'commercial or non-commercial', 'non-commercial'),
  'Zlib for nobody': change(textOf('Zlib'), 'Permission is granted to anyone', 'Permission is granted to registered users'),
  'OSL for another thing': textOf('OSL-3.0').replaceAll(/(?<=.{500})\bOriginal\b/gs, 'Example'),
  'Boost without its permission': change(textOf('BSL-1.0'), 'Permission is hereby granted', 'Notice is hereby given'),
  'JSON, reworded': change(textOf('JSON'), 'not Evil', 'never for Evil'),
  'a manual page about licenses':
    '# license\n\n> Create license files for MIT, Apache and GPL projects.\n\n`license mit > LICENSE`',
  'MIT and dots until the end': `${MIT}${'…'.repeat(100_000)}\n\nNot for sale.`,
  'words only': 'Free software. Do what you like.',
  nothing: '',
}

describe('texts that resemble an open license', () => {
  test.each(Object.entries(CLOSED_TEXTS))('%s is not open', (_, text) => {
    expect(isOpen(text)).toBe(false)
  })

  test('a reservation in a short text is a restriction', () => {
    expect(recognizeLicenseText('Copyright 2024 Example. All rights reserved.')).toEqual({ kind: 'restricted' })
    expect(recognizeLicenseText(`PROPRIETARY\n\n${'x '.repeat(3_000)}`)).toEqual({ kind: 'unknown', why: { kind: 'unlike' } })
  })

  const word = fc.constantFrom('example', 'project', 'team', 'berlin', 'tools', 'works', 'of', 'and', 'the', 'open')
  const restriction = fc
    .tuple(
      fc.array(word, { maxLength: 4 }),
      fc.constantFrom(
        'non-commercial use only',
        'may not be sold',
        'not for production',
        'use in AI training is prohibited',
        'except for the images',
        'only for members',
        'with the Commons Clause',
        'companies must pay',
        'you shall not host it',
        'unless you are a competitor',
      ),
      fc.array(word, { maxLength: 4 }),
    )
    .map(parts => ` ${parts.flat().join(' ')} `)

  test('any license with a restricting sentence at any place is closed', () => {
    const open = [
      'MIT',
      'Apache-2.0',
      'BSD-3-Clause',
      'BSD-2-Clause',
      'ISC',
      'CC-BY-4.0',
      'MPL-2.0',
      'Unlicense',
      '0BSD',
      'Zlib',
      'WTFPL',
      'CC0-1.0',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...open), restriction, fc.nat(), fc.boolean(), (id, sentence, at, ownLine) => {
        const words = textOf(id).split(/(?<=\s)/)
        words.splice(at % (words.length + 1), 0, ownLine ? `\n${sentence}\n` : sentence)
        expect(isOpen(words.join(''))).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  test('a license with one telling word more inside its terms is closed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('MIT', 'BSD-3-Clause', 'ISC', 'Apache-2.0', 'Zlib'),
        fc.constantFrom('gaming', 'Norwegian', 'registered', 'rarely'),
        fc.nat(),
        (id, word, at) => {
          const body = textOf(id)
            .replace(/^.*copyright (?:\(c\)|\[).*$/gim, '')
            .slice(0, id === 'Apache-2.0' ? 9_000 : undefined)
          const words = body.trimEnd().split(/(?<=\s)/)
          words.splice(12 + (at % (words.length - 13)), 0, `${word} `)
          expect(isOpen(words.join(''))).toBe(false)
        },
      ),
    )
  })

  test('any text gets an answer', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(MIT, APACHE.slice(0, 900), '---\n', '(c) ', '\n'),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), parts => {
        expect(['known', 'restricted', 'unknown']).toContain(recognizeLicenseText(parts.join('')).kind)
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['one word again and again', 'software '],
    ['a license again and again', MIT],
    ['two words in turn', 'the license '],
    ['no words', '=-'],
    ['one endless word', 'x'],
    ['quotes', "'"],
    ['line breaks', '\n'],
    ['lines of copyright', 'Copyright (c) 2024 x\n'],
    ['addresses', 'https://a/'],
    ['marks', 'a\u0301'],
    ['parentheses', '((('],
    ['words on one line', 'a b c d e f g h '],
    ['letters that stand for words', 'ﷺ'],
    ['comments', '<!-- a'],
  ])('a long text of %s is answered', (_, unit) => {
    const long = unit.repeat(Math.ceil(LICENSE_TEXT_BYTES / unit.length)).slice(0, LICENSE_TEXT_BYTES)
    expect(recognizeLicenseText(long).kind).toBe('unknown')
    expect(recognizeLicenseText(`${long}x`).kind).toBe('unknown')
  })

  test('a long license whose every tenth word is another is answered', () => {
    const words = GPL.split(/\s+/).map((one, index) => (index % 10 === 0 ? 'other' : one))
    expect(isOpen(words.join(' '))).toBe(false)
  })
})
