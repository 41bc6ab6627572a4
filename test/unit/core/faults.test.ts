import { expect, test } from 'vitest'
import { faultIn, faultOf } from '#core/words/faults.ts'
import { FAULTS as GERMAN } from '#core/words/faults-de.ts'
import { FAULTS } from '#core/words/faults-en.ts'
import { fill } from '#core/words/fill.ts'
import { ENGLISH_SPEECH, speechOf } from '#core/words/speech.ts'

const german = speechOf({ LANG: 'de' })
const KEYS = Object.keys(FAULTS) as (keyof typeof FAULTS)[]

const valuesOf = (key: keyof typeof FAULTS) =>
  Object.fromEntries(
    [...FAULTS[key].matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, /^n$|limit$/.test(name) ? 12 : `a (${name})`]),
  )

test.each(KEYS)('%s is said in German with its values, after a field and the name of a file', key => {
  const values = valuesOf(key)
  const said = fill(GERMAN[key], values)
  expect(faultIn(faultOf(key, values), german)).toBe(said)
  expect(faultIn(`title: ${faultOf(key, values)}`, german)).toBe(`title: ${said}`)
  if (/^(?:is|has) [^{]/.test(FAULTS[key]))
    expect(faultIn(`clip: my clip.mp4 ${faultOf(key, values)}`, german)).toBe(`clip: my clip.mp4 ${said}`)
  expect(faultIn(faultOf(key, values), ENGLISH_SPEECH)).toBe(faultOf(key, values))
})

test('an address is refused in German as by the interface, and what comes from elsewhere stays as it is', () => {
  expect(faultIn('address: the owner is not a name that the host allows; check its spelling', german)).toBe(
    'address: der Name des Kontos ist beim Host nicht möglich; prüfen Sie die Schreibweise',
  )
  expect(faultIn('bad indentation of a mapping entry', german)).toBe('bad indentation of a mapping entry')
})
