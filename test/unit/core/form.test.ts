import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseForm } from '#core/form.ts'

test('a form of a browser or a client is parsed as it was written', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aé=&+% \u{1f600}\n'), maxLength: 8 })
  fc.assert(
    fc.property(fc.dictionary(text, text), fields => {
      const written = new URLSearchParams(fields).toString()
      expect(Object.fromEntries(parseForm(written) ?? [])).toEqual({ ...fields })
    }),
  )
})

test('a field without a value is there and empty, and pairs may be empty', () => {
  expect([...(parseForm('a=&b&&c=1&') ?? [])]).toEqual([
    ['a', ''],
    ['b', ''],
    ['c', '1'],
  ])
  expect(parseForm('')?.size).toBe(0)
})

test.each(['a=1&a=2', 'a=1&a=1', 'a&%61', 'a=%', 'a=%ff', '%zz=1'])('%s is no form', text => {
  expect(parseForm(text)).toBeNull()
})
