import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCall, ToolHandlers } from '#api/mcp/call-tool.ts'
import { HeldJson } from '#api/mcp/held-json.ts'
import { KeptResults } from '#api/mcp/kept-results.ts'
import { TOOLS } from '#api/mcp/tools.ts'
import { ANONYMOUS, OWN_PROCESS } from '#api/people/viewer.ts'
import { addressHandlers } from '#api/routes/address-endpoints.ts'
import { parseAddress } from '#core/address.ts'
import { TOOL_BYTES } from '#core/limits.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { legacy, message, REVISION, type Sent } from './scene.ts'
import { answerOfSdk, answerOfService } from './sdk-alone.ts'

/* Results that were made before, and answers that the SDK never held whole, are what the SDK alone answers. */

const ADDRESS = '/local/acme/tools'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'one/SKILL.md': '---\nname: one\ndescription: The "first" $& one.\n---\nDo $1 and \\u0041, `$\'` ä \u2028 \u{1f600}.\n',
  'long/SKILL.md': `---\nname: long\ndescription: Long.\n---\n${'A line of the long skill.\n'.repeat(3_000)}`,
}

let app: TestApp
let handlers: ToolHandlers
beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES })
  await app.open(ADDRESS)
  handlers = addressHandlers(app.deps)
})
afterAll(() => app.close())

const tool = (name: string, given: Record<string, unknown>) => message('tools/call', { name, arguments: given })
const replaced = ({ headers, payload }: Sent, from: string, to: string): Sent => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll(from, to)])),
  payload: payload.replaceAll(from, to),
})
const MODERN: Sent[] = [
  tool('browse_repo', {}),
  tool('browse_repo', { limit: 1 }),
  tool('search_repo', { query: 'first' }),
  tool('load_skill', { path: 'one/SKILL.md' }),
  tool('load_skill', { path: 'long/SKILL.md' }),
  tool('read_repo_file', { path: 'one/SKILL.md', offset: 3, limit: 9 }),
  tool('read_repo_file', { path: 'nothing' }),
  tool('read_repo_file', { path: 7 }),
  tool('rm', {}),
  message('tools/list'),
  message('tools/destroy'),
  message('server/discover'),
  message('skills/list'),
]
const INVALID: Sent[] = [
  replaced(tool('browse_repo', {}), REVISION, '2099-01-01'),
  { ...tool('browse_repo', {}), headers: { ...tool('browse_repo', {}).headers, 'mcp-name': 'load_skill' } },
  { ...tool('browse_repo', {}), headers: { ...tool('browse_repo', {}).headers, 'mcp-method': 'tools/list' } },
  { ...tool('browse_repo', {}), headers: { ...tool('browse_repo', {}).headers, 'content-type': 'text/plain' } },
  replaced(tool('browse_repo', {}), '"id":1,', ''),
  replaced(tool('browse_repo', {}), '"id":1', '"id":{}'),
  replaced(tool('browse_repo', {}), '"jsonrpc":"2.0"', '"jsonrpc":"1.0"'),
  replaced(tool('browse_repo', {}), 'io.modelcontextprotocol/clientCapabilities', 'other'),
]
describe('an answer is byte for byte that of the SDK', () => {
  const named = (sent: readonly Sent[]) => sent.map(one => [one.payload.slice(0, 120), one] as const)

  test.each(named([...MODERN, ...INVALID, ...MODERN.map(legacy)]))('%s', async (_, sent) => {
    const expected = await answerOfSdk(app, ADDRESS, sent)
    for (const time of ['first', 'again']) {
      expect(await answerOfService(app, ADDRESS, sent), time).toEqual(expected)
    }
  })
})

describe('a result', () => {
  let answered = 0
  const counted = () => {
    const files: ToolHandlers['files'] = async call => {
      const answer = await handlers.files(call)
      answered++
      return answer
    }
    return { ...handlers, files }
  }
  const callOf = (given: Record<string, unknown>, viewer: ToolCall['viewer'] = ANONYMOUS): ToolCall => ({
    tool: TOOLS.find(({ name }) => name === 'read_repo_file') as ToolCall['tool'],
    arguments: given,
    repeated: given,
    address: parseAddress(ADDRESS, ['local']),
    viewer,
    maxBytes: TOOL_BYTES.default,
    signal: new AbortController().signal,
  })

  test('is made once for everybody, and for each whom more is shown', async () => {
    const kept = new KeptResults()
    const ask = async (call: ToolCall) => {
      answered = 0
      return [await kept.call(counted(), call), answered] as const
    }
    const call = callOf({ path: 'one/SKILL.md' })
    const [first] = await ask(call)
    expect(await ask(call)).toEqual([first, 0])
    expect(await ask(callOf({ path: 'one/SKILL.md', limit: 5 }))).toEqual([expect.not.objectContaining({ text: first.text }), 1])
    const own = callOf({ path: 'one/SKILL.md' }, OWN_PROCESS)
    expect([await ask(own), await ask(own)]).toEqual([
      [first, 1],
      [first, 1],
    ])
  })

  test('is made anew when the branch moved, and an error is never kept', async () => {
    const kept = new KeptResults()
    const read = (path: string) => kept.call(handlers, callOf({ path }))
    const before = await read('one/SKILL.md')
    await expect(read('two.md')).rejects.toThrow()
    const commit = await app.repository('acme/tools').commit({ 'two.md': '# Two\n' })
    await expect(read('one/SKILL.md')).rejects.toMatchObject({ code: 'index.indexing' })
    await app.index()
    expect(await read('one/SKILL.md')).not.toEqual(before)
    expect(JSON.parse((await read('two.md')).structuredContent)).toMatchObject({ commit, content: '# Two\n' })
  })
})

test('what a message repeats is never taken for a mark', () => {
  const held = new HeldJson()
  const [first, second] = [held.hold<string>('"$& $1"'), held.hold<object>('{"a":"b"}')]
  const answer = JSON.stringify({ id: new HeldJson().hold<string>('1'), result: { first, second } })
  expect(JSON.parse(held.complete(answer))).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36} 0$/),
    result: { first: '$& $1', second: { a: 'b' } },
  })
})
