import { expect, test } from 'vitest'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { busyIfFull, retryAfterOf, type SentText } from '#site/lib/sent-text.ts'
import { EXPENSIVE } from '#site/server.ts'

test('a client that copies many texts is refused some, and keeps no other from its text', async () => {
  const inTurn = createFairGate(EXPENSIVE)
  const { promise: read, resolve: endReading } = Promise.withResolvers<SentText>()
  const copy = (client: string) => inTurn(client, () => read).catch(busyIfFull)
  const many = Array.from({ length: 50 }, () => copy('192.0.2.1'))
  let isBegun = false
  const other = inTurn('192.0.2.2', async () => {
    isBegun = true
    return await read
  })
  await Promise.resolve()
  expect(isBegun).toBe(true)
  endReading({ ok: true, text: 'Text.', hidden: 0 })
  expect((await other).ok).toBe(true)
  const refused = (await Promise.all(many)).filter(({ ok }) => !ok)
  expect(refused).toHaveLength(15)
  expect(new Set(refused.map(sent => retryAfterOf(sent)['retry-after']))).toEqual(new Set(['5']))
})

test('what is no refusal is thrown on', () => {
  expect(busyIfFull(new GateFull())).toMatchObject({ status: 503 })
  expect(() => busyIfFull(new Error('other'))).toThrow('other')
})
