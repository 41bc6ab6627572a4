import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { type Delivery, type DeliveryOptions, repositoryPayload, signDelivery } from '#test/support/fake-github/webhooks.ts'
import { testApp, WEBHOOK_SECRET } from '#test/support/test-app.ts'
import { app, FILES, hookApp, post, repository } from './support/hook-scene.ts'

describe('a message', () => {
  const signed = async (options: DeliveryOptions = {}) =>
    signDelivery(hookApp, 'public', await repositoryPayload(app.github.scene, repository, null, null), options)

  test.each([
    ['with a signature of another secret', async () => signed({ secret: 'of somebody else' })],
    ['that was changed on the way', async () => ({ ...(await signed()), body: '{}' })],
    [
      'with the old signature alone',
      async () => {
        const delivery = await signed()
        return { ...delivery, headers: { ...delivery.headers, 'x-hub-signature-256': '' } }
      },
    ],
    ['with a signature of no such form', async () => ({ headers: { 'x-hub-signature-256': 'sha256=0' }, body: '{}' })],
    ['without a body', async () => ({ ...(await signed()), body: '' })],
  ] as [string, () => Promise<Delivery>][])('%s is refused', async (_, delivery) => {
    expect(await post(await delivery())).toMatchObject({ status: 401, json: { error: { code: 'hook.forged' } } })
  })

  test('with a right signature that is no such message is refused, and may come again', async () => {
    for (const [event, body] of [
      ['push', '{}'],
      ['push', 'no json'],
      ['repository', '[]'],
      ['installation', '{"repositories":[1]}'],
    ] as const) {
      expect(await post({ headers: headersOf(event, body), body })).toMatchObject({
        status: 400,
        json: { error: { code: 'request.invalid' } },
      })
    }
  })

  test('that is too long is refused before it is read whole', async () => {
    const delivery = await signed()
    const answer = await post({ ...delivery, body: ' '.repeat(5 * 1024 * 1024) })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'request.invalid' } } })
  })

  test('of many bytes waits for others that are being read; a short one does not', async () => {
    const body = JSON.stringify({ repository: { id: 1, full_name: 'acme/tools' }, padding: 'x'.repeat(100_000) })
    const long = { headers: headersOf('public', body), body }
    for (let turn = 0; turn < 20; turn++) expect((await post(long)).status).toBe(turn === 0 ? 202 : 204)

    await app.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.app.server.address() as AddressInfo
    const begun = await Promise.all(Array.from({ length: 16 }, () => beginMessage(port)))
    try {
      expect(await post(long)).toMatchObject({ status: 503, json: { error: { code: 'hook.busy', retryAfter: 1 } } })
      expect((await post(await signed())).status).toBe(202)
      begun.pop()?.destroy()
      await vi.waitFor(async () => expect((await post(long)).status).toBe(204))
    } finally {
      for (const socket of begun) socket.destroy()
    }
  })

  test('has no route where no secret is set, and no other method', async () => {
    const plain = await testApp({ 'acme/tools': FILES })
    expect((await plain.get('/hooks/github', { method: 'POST', headers: {}, payload: '{}' })).status).toBe(404)
    await plain.close()
    expect((await app.get('/hooks/github')).status).toBe(404)
  })
})

function headersOf(event: string, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': 'again',
    'x-hub-signature-256': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`,
  }
}

/** Says that a long message follows, which never comes. Resolves when the service waits for it. */
async function beginMessage(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  const headers = [
    'host: localhost',
    'content-type: application/json',
    'x-github-event: ping',
    `x-hub-signature-256: sha256=${'0'.repeat(64)}`,
    'content-length: 4000000',
    'expect: 100-continue',
  ]
  socket.write(`POST /hooks/github HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  const [said] = await once(socket, 'data')
  expect(String(said)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  return socket
}
