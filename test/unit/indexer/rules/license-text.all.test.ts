import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { kindOfExpression, recognizeLicenseText } from '#indexer/rules/license/index.ts'
import { isOpen } from './license-texts.ts'

const LABELLED = new URL('../../../../../shared/corpus/_licenses/labelled.json', import.meta.url)

// The corpus lies next to the repository where it is there at all.
describe.runIf(existsSync(LABELLED))('labelled texts of real repositories', () => {
  interface Labelled {
    id: string
    occurrences: number
    truth: string
    text?: string | null
  }
  const labelled = existsSync(LABELLED) ? (JSON.parse(readFileSync(LABELLED, 'utf8')) as Labelled[]) : []
  const withText = labelled.flatMap(({ text, ...rest }) => (typeof text === 'string' ? [{ ...rest, text }] : []))

  // 428 files in 55 groups; the text of one group of one file (FSL-1.1-ALv2, a canonical text above) is not in the data.
  test('texts of one license are recognised, but for two groups', () => {
    const filesOf = (groups: readonly Labelled[]) => groups.reduce((files, { occurrences }) => files + occurrences, 0)
    expect(filesOf(labelled.filter(({ truth }) => kindOfExpression(truth) !== null))).toBe(428)
    const single = withText.filter(({ truth }) => kindOfExpression(truth) !== null)
    expect(filesOf(single)).toBe(427)
    const missed = single.filter(({ text, truth }) => {
      const recognized = recognizeLicenseText(text)
      return recognized.kind !== 'known' || recognized.id.replace(/-only$/, '') !== truth
    })
    expect(missed.map(({ id }) => id)).toEqual(['b4b3b5', 'e8a1d7'])
    expect(filesOf(single) - filesOf(missed)).toBe(422)
    expect(missed.filter(({ text }) => isOpen(text))).toEqual([])
  })

  test('no modified, mixed or restricted text is opened', () => {
    const closed = withText.filter(({ truth }) => kindOfExpression(truth) === null && !truth.startsWith('REF:'))
    expect(closed.length).toBeGreaterThan(10)
    expect(closed.filter(({ text }) => isOpen(text)).map(({ id }) => id)).toEqual([])
  })

  test('standard notices are read as their license', () => {
    const notices = withText
      .filter(({ truth }) => truth.startsWith('REF:'))
      .map(({ id, text }) => [id, recognizeLicenseText(text)])
    expect(Object.fromEntries(notices)).toMatchObject({
      ecf26c: { kind: 'known', id: 'AGPL-3.0-or-later' },
      e894e1: { kind: 'known', id: 'Apache-2.0' },
      '8af42e': { kind: 'known', id: 'Apache-2.0' },
    })
  })
})
