import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compareBytes,
  countCharacters,
  cutAtBytes,
  decodeText,
  encodeText,
  sliceCharacters,
  truncateCharacters,
  utf8Length,
} from '#core/text.ts'

const text = fc.string({ unit: 'binary', maxLength: 60 })

test('characters are code points, even if they combine visually', () => {
  expect(countCharacters('e\u0301🙂👩‍👧猫')).toBe(2 + 1 + 3 + 1)
  fc.assert(
    fc.property(text, value => {
      expect(countCharacters(value)).toBe([...value].length)
    }),
  )
})

test('a slice takes code points', () => {
  fc.assert(
    fc.property(text, fc.nat(70), fc.nat(70), (value, offset, length) => {
      expect(sliceCharacters(value, offset, length)).toBe([...value].slice(offset, offset + length).join(''))
    }),
  )
})

test('slices joined are the whole, at every length', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (value, length) => {
      let joined = ''
      for (let offset = 0; offset < countCharacters(value); offset += length) joined += sliceCharacters(value, offset, length)
      expect(joined).toBe(value)
    }),
  )
})

test('a cut at bytes is the longest beginning that fits', () => {
  fc.assert(
    fc.property(text, fc.nat(80), (value, limit) => {
      const cut = cutAtBytes(value, limit)
      expect(value.startsWith(cut)).toBe(true)
      expect(utf8Length(cut)).toBeLessThanOrEqual(limit)
      const next = [...value][countCharacters(cut)]
      if (next !== undefined) expect(utf8Length(cut + next)).toBeGreaterThan(limit)
    }),
  )
})

test('strings are ordered as their UTF-8 bytes are', () => {
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(Math.sign(compareBytes(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)))
    }),
  )
  expect(['\uFF5E', '😀', 'a', 'B', ''].sort(compareBytes)).toEqual(['', 'B', 'a', '\uFF5E', '😀'])
})

test('a text that is too long ends in an ellipsis within its limit', () => {
  expect(truncateCharacters('🙂🙂🙂', 3)).toBe('🙂🙂🙂')
  expect(truncateCharacters('🙂🙂🙂🙂', 3)).toBe('🙂🙂…')
})

describe('decoding', () => {
  test.each([
    ['a byte order mark stays', [0xef, 0xbb, 0xbf, 0x61], '\uFEFFa'],
    ['nothing', [], ''],
    ['a NUL', [0x61, 0x00], null],
    ['a lone continuation', [0x80], null],
    ['an overlong form', [0xc0, 0xaf], null],
    ['a surrogate', [0xed, 0xa0, 0x80], null],
    ['a cut character', [0xf0, 0x9f, 0x99], null],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00], null],
  ])('%s', (_name, bytes, decoded) => {
    expect(decodeText(Uint8Array.from(bytes))).toBe(decoded)
  })

  test('decoding reverses encoding', () => {
    fc.assert(
      fc.property(
        text.filter(value => !value.includes('\0')),
        value => {
          expect(decodeText(encodeText(value))).toBe(value)
        },
      ),
    )
  })
})
