import { EncryptJWT, SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { createSeals } from '#api/people/seal.ts'
import { deriveKeys, type SealingKeys } from '#api/purpose-keys.ts'
import { handClock } from '#test/support/store-values.ts'

const keyOf = (kid: string, byte: number) => ({ kid, key: Buffer.alloc(32, byte).toString('base64url') })
const ISSUER = 'https://skills.example.org'
const KEYS: SealingKeys = [keyOf('a', 1)]

function open(keys = KEYS, issuer = ISSUER) {
  const clock = handClock('2026-11-24T00:00:00Z')
  return { clock, ...createSeals(keys, issuer, clock) }
}

test('v5.0.0-9.2.2 and v5.0.0-9.2.3: a seal opens for its purpose and its deployment alone', async () => {
  const { seal, open: read } = open()
  const text = await seal('signin', { state: 'x' }, 60)
  expect(await read('signin', text)).toMatchObject({ state: 'x' })
  expect(await read('oauth-request', text)).toBeNull()
  expect(await open(KEYS, 'https://other.example.org').open('signin', text)).toBeNull()
  expect(text).not.toContain(Buffer.from('state').toString('base64url'))
})

test('a seal ends with its time, and one without a time does not', async () => {
  const { seal, open: read, clock } = open()
  const [short, long] = [await seal('signin', {}, 60), await seal('host-token', { at: 'x' }, null)]
  clock.advance(59)
  expect(await read('signin', short)).not.toBeNull()
  clock.advance(2)
  expect(await read('signin', short)).toBeNull()
  clock.advance(400 * 86_400)
  expect(await read('host-token', long)).toMatchObject({ at: 'x' })
})

test('a new key seals, old keys open, and a key that was taken away opens nothing', async () => {
  const text = await open().seal('signin', {}, 60)
  const rotated = open([keyOf('b', 2), ...KEYS])
  expect(await rotated.open('signin', text)).not.toBeNull()
  const newer = await rotated.seal('signin', {}, 60)
  expect(await open().open('signin', newer)).toBeNull()
  expect(await open([keyOf('b', 2)]).open('signin', text)).toBeNull()
  // The same name for another key.
  expect(await open([keyOf('a', 3)]).open('signin', text)).toBeNull()
})

test('v5.0.0-9.1.2: no other algorithm is accepted, and an edited seal never', async () => {
  const { seal, open: read, clock } = open()
  const key = deriveKeys(KEYS, 'signin')[0]
  const claims = { iss: ISSUER, aud: `${ISSUER}#signin`, exp: clock.now().getTime() / 1000 + 60 }
  const header = { typ: 'mountglass-signin+jwt', kid: 'a' }
  const forged = [
    new UnsecuredJWT(claims).encode(),
    await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', ...header }).sign(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', ...header }).encrypt(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A128CBC-HS256', ...header }).encrypt(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: 'a' }).encrypt(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: header.typ }).encrypt(key),
    '',
    'a.b.c.d.e',
    'x'.repeat(5_000),
  ]
  for (const text of forged) expect(await read('signin', text), text).toBeNull()
  const text = await seal('signin', { state: 'x' }, 60)
  const [head = '', , iv = '', body = '', tag = ''] = text.split('.')
  for (const part of [head, iv, body, tag]) {
    const flipped = part.slice(0, 1) === 'A' ? `B${part.slice(1)}` : `A${part.slice(1)}`
    expect(await read('signin', text.replace(part, flipped))).toBeNull()
  }
  expect(await read('signin', text.slice(0, -2))).toBeNull()
})
