import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type ClientAnswer, createClients, createRegistrations } from '#api/oauth/clients.ts'
import { openWebDocuments } from '#infra/web-documents.ts'
import { keyOf } from '#test/support/oauth-scene.ts'
import { until } from '#test/support/until.ts'
import { type Answering, testWeb } from '#test/support/web-server.ts'

const GOOD = 'https://client.example/client.json'
const REDIRECTS = ['https://client.example/back']
const OK = { status: 'ok', client: { id: GOOD, kind: 'cimd', name: 'An app' } }

const documentOf = (id: string) => JSON.stringify({ client_id: id, client_name: 'An app', redirect_uris: REDIRECTS })
const sendJson = (response: ServerResponse, text: string, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)

/** Answers with the document that describes its own URL, except below `slow.example`: what is asked there is held until the end. */
function answering(held: ServerResponse[]): Answering {
  return ({ headers, url }, response) => {
    if (headers.host?.endsWith('slow.example')) held.push(response)
    else sendJson(response, documentOf(`https://${headers.host}${url}`))
  }
}

/** Clients of one process. The web lasts until the end of the test. */
async function open(
  answer: Answering,
  { turnMs = 60_000, names = {} }: { turnMs?: number; names?: Record<string, string[]> } = {},
) {
  const web = await testWeb(answer, names)
  const documents = openWebDocuments({ bytes: 5 * 1024, milliseconds: 60_000 }, web)
  return { clients: createClients(createRegistrations([keyOf('a', 1)]), documents, turnMs), web }
}

const statusOf = async (answer: Promise<ClientAnswer>) => (await answer).status

describe('an app whose id is the URL of its metadata', () => {
  test('is fetched once for all simultaneous requests', async () => {
    const { clients, web } = await open(answering([]))
    const many = Array.from({ length: 200 }, (_, index) => clients.find(GOOD, `192.0.2.${index % 50}`))
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set(['ok']))
    expect(await clients.find(GOOD, '192.0.2.1')).toMatchObject(OK)
    expect(web.asked).toEqual(['/client.json'])
  })

  test('is found while one requester holds as many fetches as allowed, on any number of origins', async () => {
    const held: ServerResponse[] = []
    const { clients } = await open(answering(held))
    const flood = Array.from({ length: 100 }, (_, index) => clients.find(`https://a${index}.slow.example/x`, '198.51.100.1'))
    await until(() => held.length === 8)
    expect(await clients.find(GOOD, '203.0.113.9')).toMatchObject(OK)
    // Beyond those that are read and those that wait, their own are refused.
    expect(await Promise.all(flood.slice(24).map(statusOf))).toEqual(Array(76).fill('unavailable'))
  })

  test('is found by another requester although it waits behind the fetches of a requester at the limit', async () => {
    const held: ServerResponse[] = []
    const { clients } = await open(answering(held))
    for (let index = 0; index < 8; index++) void clients.find(`https://a${index}.slow.example/x`, '198.51.100.1')
    await until(() => held.length === 8)
    void clients.find(GOOD, '198.51.100.1')
    expect(await clients.find(GOOD, '203.0.113.9')).toMatchObject(OK)
  })

  test('is found although one requester has others of its origin read that are slow', async () => {
    const held: ServerResponse[] = []
    const { clients } = await open(({ url, headers }, response) => {
      if (url === '/client.json') sendJson(response, documentOf(`https://${headers.host}${url}`))
      else held.push(response)
    })
    for (let index = 0; index < 12; index++) void clients.find(`${GOOD}?${index}`, '198.51.100.1')
    await until(() => held.length === 2)
    expect(await clients.find(GOOD, '203.0.113.9')).toMatchObject(OK)
  })

  test('is unavailable once its requester has waited too long for a turn', async () => {
    const held: ServerResponse[] = []
    const { clients, web } = await open(answering(held), { turnMs: 50 })
    for (let index = 0; index < 8; index++) void clients.find(`https://a${index}.slow.example/x`, '198.51.100.1')
    await until(() => held.length === 8)
    expect(await clients.find(GOOD, '198.51.100.1')).toEqual({ status: 'unavailable' })
    for (const response of held) sendJson(response, '{}')
    expect(web.asked).not.toContain('/client.json')
  })

  test.each<[string, string, (response: ServerResponse) => void]>([
    ['unknown', 'is not there', response => sendJson(response, '{}', 404)],
    ['unknown', 'is no JSON', response => sendJson(response, '<html>')],
    ['unknown', 'describes another app', response => sendJson(response, documentOf('https://other.example/client.json'))],
    ['unknown', 'is none of a public client', response => sendJson(response, withSecret(GOOD))],
    ['unavailable', 'is on a server that is overloaded', response => sendJson(response, '{}', 503)],
  ])('is %s while its document %s, and is found in the next moment', async (status, _what, fail) => {
    let isFailing = true
    const { clients, web } = await open((_request, response) =>
      isFailing ? fail(response) : sendJson(response, documentOf(GOOD)),
    )
    expect(await clients.find(GOOD, '203.0.113.9')).toEqual({ status })
    isFailing = false
    expect(await clients.find(GOOD, '203.0.113.9')).toMatchObject(OK)
    expect(web.asked).toHaveLength(2)
  })

  test('stays found after thousands of failing others', async () => {
    const { clients, web } = await open(answering([]), { names: { 'other.example': ['127.0.0.1'] } })
    await clients.find(GOOD, '203.0.113.9')
    for (let index = 0; index < 5_000; index++)
      expect(await clients.find(`https://other.example/${index}/${'x'.repeat(900)}`, '198.51.100.1')).toEqual({
        status: 'unknown',
      })
    expect(await clients.find(GOOD, '203.0.113.9')).toMatchObject(OK)
    expect(web.asked).toEqual(['/client.json'])
  })
})

function withSecret(id: string): string {
  return JSON.stringify({ client_id: id, redirect_uris: REDIRECTS, token_endpoint_auth_method: 'client_secret_post' })
}
