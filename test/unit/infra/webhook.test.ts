import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createWebhook, type NamedRepository } from '#infra/github/webhook.ts'

test('the repositories of one message are told at once: whoever forgets them looks through what is known once', () => {
  const told: (readonly NamedRepository[])[] = []
  const secret = 'between-the-host-and-us'
  const hook = createWebhook({
    secret,
    onChanged: named => told.push(named),
    onAccountsChanged: () => {},
    onPushed: () => false,
    onWarning: () => {},
  })
  const repositories = Array.from({ length: 20_000 }, (_, index) => ({ id: index + 1, full_name: `acme/tools-${index + 1}` }))
  const body = Buffer.from(JSON.stringify({ action: 'created', installation: { account: { login: 'acme' } }, repositories }))
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'x-github-event': 'installation', 'x-hub-signature-256': signature }
  expect(hook.receive(headers, body)).toEqual({ status: 'heard', commits: [] })
  expect(told.map(named => named.length)).toEqual([repositories.length])
  expect(told[0]?.at(-1)).toEqual({ id: 'gh-20000', fullName: 'acme/tools-20000' })
})

test('a secret that may be guessed is warned of, without being told', () => {
  const warningsFor = (secret: string) => {
    const warnings: string[] = []
    createWebhook({
      secret,
      onChanged: () => {},
      onAccountsChanged: () => {},
      onPushed: () => false,
      onWarning: message => warnings.push(message),
    })
    return warnings
  }
  expect(warningsFor('sixteen-letters.')).toEqual([])
  expect(warningsFor('pa55word')).toEqual([
    expect.stringMatching(/^MOUNTGLASS_GITHUB_WEBHOOK_SECRET has fewer than 16 characters/),
  ])
  expect(warningsFor('pa55word').join()).not.toContain('pa55word')
})
