import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Delivery, type DeliveryOptions, repositoryPayload, signDelivery } from '#test/support/fake-github/webhooks.ts'
import { testApp, WEBHOOK_SECRET } from '#test/support/test-app.ts'
import { app, FILES, hookApp, post, repository, useHookScene } from './support/hook-scene.ts'

useHookScene()

describe('a message', () => {
  const signed = async (options: DeliveryOptions = {}) =>
    signDelivery(hookApp, 'public', await repositoryPayload(app.github.scene, repository, null, null), options)

  test.each([
    ['with a signature of another secret', async () => signed({ secret: 'of somebody else' })],
    ['that was changed in transit', async () => ({ ...(await signed()), body: '{}' })],
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

  test('with a valid signature and an invalid body is refused, and may be sent again', async () => {
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

  test('that is too long is refused before it is read completely', async () => {
    const delivery = await signed()
    const answer = await post({ ...delivery, body: ' '.repeat(5 * 1024 * 1024) })
    expect(answer).toMatchObject({ status: 413, json: { error: { code: 'request.too_large' } } })
  })

  test('has no route where no secret is set, and no other method', async () => {
    const plain = await testApp({ 'acme/tools': FILES })
    expect((await plain.get('/hooks/github', { method: 'POST', headers: {}, payload: '{}' })).status).toBe(404)
    await plain.close()
    expect(await app.get('/hooks/github')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
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
