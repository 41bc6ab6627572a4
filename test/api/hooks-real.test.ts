import { createHmac } from 'node:crypto'
import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { expect, test } from 'vitest'
import { WEBHOOK_SECRET } from '#test/support/test-app.ts'
import { app, post, useHookScene } from './support/hook-scene.ts'

useHookScene()

/** Payloads that GitHub recorded, as they are. */
const events = (examples as unknown as { name: string; examples: object[] }[]).map(
  ({ name, examples }) => [name, examples] as const,
)

const HEARD = new Set([
  'github_app_authorization',
  'installation',
  'installation_repositories',
  'member',
  'public',
  'push',
  'repository',
])

function headersOf(event: string, body: string, type: string): Record<string, string> {
  return {
    'content-type': type,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`,
  }
}

test('every recorded payload is understood as JSON and as a form', async () => {
  expect(events.length).toBeGreaterThan(50)
  /** Some are recorded twice. */
  const sent = new Set<string>()
  for (const [event, payloads] of events) {
    for (const payload of payloads) {
      const { action } = payload as { action?: string }
      const isHeard = HEARD.has(event) || (event === 'organization' && action === 'renamed')
      const json = JSON.stringify(payload)
      const form = new URLSearchParams({ payload: json }).toString()
      const kinds = [
        ['application/json', json],
        ['application/x-www-form-urlencoded', form],
        ['application/x-www-form-urlencoded; charset=utf-8', `${form}&more=1`],
      ] as const
      for (const [type, body] of kinds.filter(([, body]) => !sent.has(body))) {
        sent.add(body)
        const { status } = await post({ headers: headersOf(event, body, type), body })
        expect(status, `${event} ${action} ${type}`).toBe(isHeard ? 202 : 204)
      }
    }
  }
  expect(app.github.log.rest).toEqual([])
})

test.each([
  ['a form without a payload', 'zen=1'],
  ['a form with a broken payload', 'payload=%7B%22ref'],
  ['JSON that is called a form', '{"ref":"refs/heads/main"}'],
])('%s is refused', async (_, body) => {
  const answer = await post({ headers: headersOf('push', body, 'application/x-www-form-urlencoded'), body })
  expect(answer).toMatchObject({ status: 400, json: { error: { code: 'request.invalid' } } })
})
