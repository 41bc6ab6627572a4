import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { deriveKeys, formatNewKeys, parseSealingKeys, type SealingKeys } from '#api/purpose-keys.ts'
import { type CursorBinding, readCursor, sealCursor } from '#api/reading/cursor.ts'

const OLD = { kid: 'old', key: Buffer.alloc(32, 1).toString('base64url') }
const NEW = { kid: 'new', key: Buffer.alloc(32, 2).toString('base64url') }
const KEYS = keysOf([OLD])
const BINDING: CursorBinding = {
  route: 'browse',
  repositoryId: 'local-1',
  commit: 'a'.repeat(40),
  parameters: { mount: '', path: 'skills' },
}
const Position = z.tuple([z.string(), z.int()])
const REFUSED = expect.objectContaining({ code: 'request.invalid' })

test('a cursor gives back the position that was sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(), (name, number) => {
      const cursor = sealCursor(KEYS, BINDING, [name, number])
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(readCursor(KEYS, BINDING, cursor, Position)).toEqual([name, number])
    }),
  )
})

test('a cursor with any character changed, added or left out is refused', () => {
  const cursor = sealCursor(KEYS, BINDING, ['pdf', 17])
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let at = 0; at < cursor.length; at++) {
    for (const character of [...alphabet, '=', '+', '/', ' ']) {
      if (character === cursor[at]) continue
      const edited = cursor.slice(0, at) + character + cursor.slice(at + 1)
      expect(() => readCursor(KEYS, BINDING, edited, Position), edited).toThrow(REFUSED)
    }
    expect(() => readCursor(KEYS, BINDING, cursor.slice(0, at), Position)).toThrow(REFUSED)
    expect(() => readCursor(KEYS, BINDING, cursor.slice(at + 1), Position)).toThrow(REFUSED)
  }
  for (const ending of ['A', '=', '==', ' ', '\n'])
    expect(() => readCursor(KEYS, BINDING, cursor + ending, Position)).toThrow(REFUSED)
})

test.for([
  ['route', { route: 'find' }],
  ['repository', { repositoryId: 'local-2' }],
  ['commit', { commit: 'b'.repeat(40) }],
  ['parameter', { parameters: { mount: '', path: 'docs' } }],
  ['set of parameters', { parameters: { mount: '', path: 'skills', query: '' } }],
] as const)('a cursor of another %s is refused', ([, other]) => {
  const cursor = sealCursor(KEYS, BINDING, ['pdf', 17])
  expect(() => readCursor(KEYS, { ...BINDING, ...other }, cursor, Position)).toThrow(REFUSED)
})

test('the order in which parameters are named does not matter', () => {
  const cursor = sealCursor(KEYS, BINDING, ['pdf', 17])
  expect(readCursor(KEYS, { ...BINDING, parameters: { path: 'skills', mount: '' } }, cursor, Position)).toEqual(['pdf', 17])
})

test('a position of another shape is refused', () => {
  expect(() => readCursor(KEYS, BINDING, sealCursor(KEYS, BINDING, 'pdf'), Position)).toThrow(REFUSED)
})

test('the first key seals, all keys open, a removed key opens nothing', () => {
  const cursor = sealCursor(KEYS, BINDING, ['pdf', 17])
  expect(readCursor(keysOf([NEW, OLD]), BINDING, cursor, Position)).toEqual(['pdf', 17])
  expect(sealCursor(keysOf([NEW, OLD]), BINDING, ['pdf', 17])).toBe(sealCursor(keysOf([NEW]), BINDING, ['pdf', 17]))
  expect(() => readCursor(keysOf([NEW]), BINDING, cursor, Position)).toThrow(REFUSED)
})

test('new keys are read back, and invalid text has no keys', () => {
  expect(parseSealingKeys(formatNewKeys('1', Buffer.alloc(32, 9)))).toEqual([
    { kid: '1', key: Buffer.alloc(32, 9).toString('base64url') },
  ])
  const wrong = ['', '[]', '{}', 'null', '[{"kid":"a"}]', '[{"kid":"a","key":"short"}]', JSON.stringify([OLD, OLD])]
  for (const text of wrong) expect(parseSealingKeys(text), text).toBeNull()
})

function keysOf(keys: SealingKeys) {
  return deriveKeys(keys, 'cursor')
}
