import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createWebhook, type HostChange } from '#infra/github/webhook.ts'

test('the repositories of one message are reported at once, for one pass over the caches', async () => {
  const told: HostChange[] = []
  const secret = 'between-the-host-and-us'
  const hook = createWebhook({
    secret,
    onHeard: change => {
      told.push(change)
      return false
    },
    onWarning: () => {},
  })
  const repositories = Array.from({ length: 20_000 }, (_, index) => ({ id: index + 1, full_name: `acme/tools-${index + 1}` }))
  const body = Buffer.from(JSON.stringify({ action: 'created', installation: { account: { login: 'acme' } }, repositories }))
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'x-github-event': 'installation', 'x-hub-signature-256': signature }
  expect(await hook.receive(headers, body)).toEqual({ status: 'heard', commits: [], gone: [] })
  expect(told.map(change => change.repositories.length)).toEqual([repositories.length])
  expect(told[0]?.repositories.at(-1)).toEqual({ id: 'gh-20000', fullName: 'acme/tools-20000' })
})

test.each([
  ['an enterprise, which has no repositories', { id: 1, slug: 'acme-group', name: 'Acme Group' }],
  ['no account that is named', null],
])('an installation on %s is taken', async (_, account) => {
  const secret = 'between-the-host-and-us'
  const changed: unknown[] = []
  const onHeard = (change: HostChange) => {
    changed.push(change)
    return false
  }
  const hook = createWebhook({ secret, onHeard, onWarning: () => {} })
  const receive = async (message: object) => {
    const body = Buffer.from(JSON.stringify(message))
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    return (await hook.receive({ 'x-github-event': 'installation', 'x-hub-signature-256': signature }, body)).status
  }
  expect(await receive({ action: 'created', installation: { account } })).toBe('heard')
  expect(changed).toEqual([])
  expect(await receive({ action: 'created', installation: {} })).toBe('malformed')
})

test('a weak secret gives a warning, without the secret', () => {
  const warningsFor = (secret: string) => {
    const warnings: string[] = []
    createWebhook({
      secret,
      onHeard: () => false,
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

test.each([
  ['an empty body', '', (right: string) => right],
  ['a signature in capitals', '{}', (right: string) => right.toUpperCase()],
  ['two signatures', '{}', (right: string) => [right, right]],
  ['a signature of another body', '{"a":1}', () => signed('{}')],
] as const)('%s is refused as forged', async (_, text, signatureOf) => {
  const note = () => {
    throw new Error('a forged delivery changes nothing')
  }
  const hook = createWebhook({ secret: SECRET, onHeard: note, onWarning: note })
  const headers = { 'x-github-event': 'ping', 'x-hub-signature-256': signatureOf(signed(text)) }
  expect(await hook.receive(headers, Buffer.from(text))).toEqual({ status: 'forged' })
  expect(await hook.receive({ 'x-github-event': 'ping', 'x-hub-signature-256': signed('{} ') }, Buffer.from('{} '))).toEqual({
    status: 'ignored',
  })
})

const SECRET = 'between-the-host-and-us'

function signed(text: string): string {
  return `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`
}
