import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeptLists, type ListRequest, type SdkAnswer } from '#api/mcp/kept-lists.ts'
import { ANONYMOUS, OWN_PROCESS } from '#api/people/viewer.ts'
import { parseAddress } from '#core/address.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { legacy, message, REVISION, type Sent } from './scene.ts'
import { answerOfSdk, answerOfService } from './sdk-alone.ts'

/* Lists of tools that were answered before are what the SDK alone answers. */

const ADDRESS = '/local/acme/tools'
const LIST = message('tools/list')

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'package.json': '{"license":"MIT"}\n' } })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

const numbered = ({ headers, payload }: Sent, id: string): Sent => {
  return { headers, payload: payload.replace('"id":1', `"id":${id}`) }
}
const withParam = ({ headers, payload }: Sent, param: string): Sent => {
  return {
    headers,
    payload: payload.replace(/"params":\{(?=("|\}))/, (_, next) => `"params":{${param}${next === '}' ? '' : ','}`),
  }
}
const IDS = ['1', '2', '0', '-7', '-0', '1e3', '9007199254740991', '""', '"1"', '"\\"id\\":1}"', '"\\u2028\\ud800"']
const DEEP_LIST = '['.repeat(30_000) + ']'.repeat(30_000)
const ODD_IDS = ['1.5', '9007199254740993', '1e400', 'null', 'true', '[]', '{}']

describe.each([
  ['of the newest revision', LIST],
  ['of an older revision', legacy(LIST)],
])('a list for a client %s is byte for byte that of the SDK', (_, sent) => {
  test.each([...IDS, ...ODD_IDS])('with the id %s, while the list is kept', async id => {
    expect((await answerOfService(app, ADDRESS, sent))[0]).toBe(200)
    const asked = numbered(sent, id)
    expect(await answerOfService(app, ADDRESS, asked)).toEqual(await answerOfSdk(app, ADDRESS, asked))
  })

  test.each([
    ['no id', { ...sent, payload: sent.payload.replace('"id":1,', '') }],
    ['an unknown revision', { headers: { ...sent.headers, 'mcp-protocol-version': '2099-01-01' }, payload: sent.payload }],
    ['another method in the header', { headers: { ...sent.headers, 'mcp-method': 'tools/call' }, payload: sent.payload }],
    ['no accepted type', { headers: { ...sent.headers, accept: 'text/html' }, payload: sent.payload }],
    ['a cursor', withParam(sent, '"cursor":7')],
    ['deep params', withParam(sent, `"deep":${DEEP_LIST}`)],
    ['another client', { ...sent, payload: sent.payload.replace('"name":"test"', '"name":7') }],
    ['another version', { ...sent, payload: sent.payload.replace(`:"${REVISION}"`, ':"2099-01-01"') }],
  ])('with %s, while the list is kept', async (_what, asked) => {
    expect((await answerOfService(app, ADDRESS, sent))[0]).toBe(200)
    expect(await answerOfService(app, ADDRESS, asked)).toEqual(await answerOfSdk(app, ADDRESS, asked))
  })
})

describe('the SDK is asked once', () => {
  const asked: ListRequest = {
    message: { ...JSON.parse(LIST.payload) },
    headers: LIST.headers,
    viewer: ANONYMOUS,
    address: parseAddress(ADDRESS, ['local']),
  }
  const withId = (id: unknown): ListRequest => ({ ...asked, message: { ...asked.message, id } })

  async function questionsOf(
    requests: readonly ListRequest[],
    answerTo: (id: unknown) => Partial<SdkAnswer>,
  ): Promise<unknown[]> {
    const lists = new KeptLists()
    const questions: unknown[] = []
    for (const request of requests) {
      const { id } = request.message
      const answer = { status: 200, headers: [], body: JSON.stringify({ result: {}, id }), ...answerTo(id) }
      const given = await lists.answer(request, async () => {
        questions.push(id)
        return answer
      })
      expect(given).toEqual(answer)
    }
    return questions
  }

  test('for all ids', async () => {
    expect(await questionsOf([withId(1), withId(2), withId('3'), withId('"id":1}')], () => ({}))).toEqual([1])
  })

  test('for each message, its headers, and what decides the list', async () => {
    const others: ListRequest[] = [
      { ...asked, message: { ...asked.message, params: {} } },
      { ...asked, headers: { ...asked.headers, accept: 'application/json' } },
      { ...asked, viewer: OWN_PROCESS },
      { ...asked, address: null },
    ]
    expect(await questionsOf([asked, ...others, asked, ...others], () => ({}))).toEqual([1, 1, 1, 1, 1])
  })

  test('for each message that is too long to be kept', async () => {
    const long = { ...asked, message: { ...asked.message, params: { cursor: 'x'.repeat(8192) } } }
    expect(await questionsOf([long, long], () => ({}))).toEqual([1, 1])
  })

  test.each([
    ['an error', { status: 400 }],
    ['an answer without a body', { body: null }],
    ['an answer that ends without the id', { body: '{"id":1,"result":{}}' }],
    ['an answer that goes on behind the id', { body: '{"id":1} {}' }],
  ])('but again after %s', async (_, answer) => {
    expect(await questionsOf([asked, asked], () => answer)).toEqual([1, 1])
  })
})
