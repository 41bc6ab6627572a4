import { describe, expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { keyOfFinding } from '#words/findings.ts'
import { PAGE_T } from '#words/t.ts'
import { APACHE, change, MIT } from './license-texts.ts'
import { resolve } from './license-tree.ts'

const issuesOf = (text: string, withheld: string[] = []) => resolve({ files: { LICENSE: text }, withheld }, '').issues

describe('a license text that is not open gives the reason', () => {
  test.each([
    ['added words', `${MIT}\n\nYou may not sell it.`, 'the text resembles MIT, with the added words “you may not sell it”'],
    [
      'added words in a long sentence',
      change(APACHE, 'Licensor provides the Work', `${'Licensor hereby states '.repeat(5)}that robots must not read the Work`),
      'the text resembles Apache-2.0, with the added words “… states licensor hereby states licensor hereby states that robots must not read”',
    ],
    ['removed words', change(MIT, 'modify, ', ''), 'the text resembles MIT, without the words “modify”'],
    [
      'a copyright line with a condition',
      change(MIT, /^Copyright.*$/m, 'Copyright 2026 Example. Not for training'),
      'the text resembles MIT, but a copyright line says more than names: “Copyright 2026 Example. Not for training”',
    ],
    ['a text of its own', 'Do as I say.', 'the text resembles no known license'],
    ['a reservation', 'Copyright 2026 Example. All rights reserved.', 'the text reserves all rights'],
    ['a long text', 'word '.repeat(40_000), 'the text is longer than 131072 bytes: it is not a single license'],
    ['struck-out text', `~~${MIT}~~`, 'the text hides, strikes out or reverses words: readers may see another license'],
    [
      'a page of another license',
      `---\nspdx-id: ISC\n---\n${MIT}`,
      'the text is not the license that the metadata above it names',
    ],
  ])('%s', (_, text, message) => {
    const issues = issuesOf(text)
    expect(issues.map(withMessage)).toEqual([{ code: 'license.unrecognized', path: 'LICENSE', message }])
    const inGerman = issues.map(issue => PAGE_T.de.find(keyOfFinding(issue), issue.values)).join()
    expect(inGerman).not.toBe(message)
    expect(inGerman.match(/“.*”|„.*“/s)?.[0].slice(1, -1)).toBe(message.match(/“.*”/s)?.[0].slice(1, -1))
  })

  test('a withheld text is not quoted', () => {
    expect(issuesOf(`${MIT}\n\nYou may not sell it.`, ['LICENSE']).map(withMessage)).toMatchObject([
      { message: 'the text is not a known license, or was changed' },
    ])
  })
})
