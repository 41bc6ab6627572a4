import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { introduce } from '#api/mcp/instructions.ts'
import { createServer } from '#api/mcp/server.ts'
import { createSkillSource } from '#api/mcp/skill-source.ts'
import { ANONYMOUS } from '#api/people/viewer.ts'
import { isSourceServed } from '#api/reading/file-page.ts'
import { addressHandlers } from '#api/routes/address-endpoints.ts'
import { parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { TOOL_BYTES } from '#core/limits.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { countTurns } from '#test/support/turn-counter.ts'
import { legacy, message, REVISION, type Sent } from './scene.ts'

/* The service passes messages to the SDK and its answers to clients without changing a byte. */

const ADDRESS = '/local/acme/tools'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'one/SKILL.md': '---\nname: one\ndescription: The "first" $& one.\n---\nDo $1 and \\u0041, `$\'` ä \u2028 \u{1f600}.\n',
  'one/picture.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0, 1, 2]),
  'one/empty.txt': '',
  'long/SKILL.md': `---\nname: long\ndescription: Long.\n---\n${'A line of the long skill.\n'.repeat(3_000)}`,
}

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

type Answered = [status: number, body: string]

async function answerOfService({ headers, payload }: Sent): Promise<Answered> {
  const { statusCode, body } = await app.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, headers, payload })
  return [statusCode, body]
}

async function answerOfSdk({ headers, payload }: Sent): Promise<Answered> {
  const { deps } = app
  const handlers = addressHandlers(deps)
  const address = parseAddress(ADDRESS, ['local'])
  const { instructions } = await introduce(handlers, address, ANONYMOUS, JSON.parse(payload))
  const handler = createMcpHandler(() =>
    createServer(
      {
        handlers,
        maxBytes: TOOL_BYTES.default,
        readAddress: text => parseAddress(text, ['local']),
        isSourceServed: of => isSourceServed(deps, of),
        openSkills: of => createSkillSource(deps, of),
        toServiceError: thrown => (thrown instanceof ServiceError ? thrown : new ServiceError('service.internal')),
      },
      { address, viewer: ANONYMOUS, instructions, withSkills: true },
    ),
  )
  const answer = await handler.fetch(
    new Request(`https://mountglass.test/mcp${ADDRESS}`, { method: 'POST', headers, body: payload }),
  )
  const body = await answer.text()
  await handler.close()
  return [answer.status, body]
}

const tool = (name: string, given: Record<string, unknown>) => message('tools/call', { name, arguments: given })
const replaced = ({ headers, payload }: Sent, from: string, to: string): Sent => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll(from, to)])),
  payload: payload.replaceAll(from, to),
})
const withHeader = ({ headers, payload }: Sent, more: Record<string, string>): Sent => {
  return { headers: { ...headers, ...more }, payload }
}
const withParam = (sent: Sent, param: string): Sent => replaced(sent, '"params":{', `"params":{${param},`)

const LIST = message('tools/list')
const BROWSE = tool('browse_repo', {})
const GOOD: Sent[] = [
  BROWSE,
  tool('browse_repo', { limit: 1 }),
  tool('search_repo', { query: 'first' }),
  tool('load_skill', { path: 'one/SKILL.md' }),
  tool('load_skill', { path: 'long/SKILL.md' }),
  tool('read_repo_file', { path: 'one/SKILL.md', offset: 3, limit: 9 }),
  tool('read_repo_file', { path: 'nothing' }),
  tool('read_repo_file', { path: 7 }),
  tool('rm', {}),
  LIST,
  message('tools/destroy'),
  message('server/discover'),
  message('skills/list'),
]
const INVALID: Sent[] = [
  replaced(BROWSE, REVISION, '2099-01-01'),
  withHeader(BROWSE, { 'mcp-name': 'load_skill' }),
  withHeader(BROWSE, { 'mcp-method': 'tools/list' }),
  withHeader(BROWSE, { 'content-type': 'text/plain' }),
  replaced(BROWSE, '"jsonrpc":"2.0"', '"jsonrpc":"1.0"'),
  replaced(BROWSE, 'io.modelcontextprotocol/clientCapabilities', 'other'),
  withHeader(LIST, { accept: 'text/html' }),
  withParam(LIST, '"cursor":7'),
  withParam(LIST, `"deep":${'['.repeat(30_000)}${']'.repeat(30_000)}`),
  replaced(LIST, '"name":"test"', '"name":7'),
]
const IDS = [
  '0',
  '-7',
  '1e3',
  '""',
  '"\\"id\\":1}"',
  '"\\u2028\\ud800"',
  '1.5',
  '9007199254740993',
  '1e400',
  'null',
  'true',
  '{}',
]
const NUMBERED: Sent[] = [...IDS.map(id => replaced(LIST, '"id":1', `"id":${id}`)), replaced(LIST, '"id":1,', '')]

const named = (sent: readonly Sent[]) => sent.map(one => [one.payload.slice(0, 120), one] as const)

describe('an answer is byte for byte that of the SDK', () => {
  test.each(named([...GOOD, ...INVALID, ...NUMBERED]))('to a client of the newest revision: %s', async (_, sent) => {
    expect(await answerOfService(sent)).toEqual(await answerOfSdk(sent))
  })

  test.each(named([...GOOD, ...NUMBERED].map(legacy)))('to a client of an older revision: %s', async (_, sent) => {
    expect(await answerOfService(sent)).toEqual(await answerOfSdk(sent))
  })
})

/** With the handler of the SDK for `resources/read`, which encodes slowly. */
async function readBySdk({ headers, payload }: Sent): Promise<Answered> {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer(
      { name: 'mountglass', title: 'Mountglass', version: '0.1.0' },
      { capabilities: { resources: { listChanged: false } } },
    )
    const cacheHint = { ttlMs: 60_000, cacheScope: 'public' } as const
    new SkillsExtension({ source: { ...sourceOfSkills(), listResources: async () => [] }, cacheHint, strict: true }).attach(mcp)
    return mcp
  })
  const answer = await handler.fetch(
    new Request(`https://mountglass.test/mcp${ADDRESS}`, { method: 'POST', headers, body: payload }),
  )
  const body = await answer.text()
  await handler.close()
  return [answer.status, body]
}

function sourceOfSkills() {
  const toProtocolError = (thrown: unknown) => thrown as Error
  return createSkillSource(app.deps, { address: parseAddress(ADDRESS, ['local']), viewer: ANONYMOUS, toProtocolError })
}

const BASE = `skill:/${ADDRESS}`

describe('a file of a skill', () => {
  const uris = ['one/SKILL.md', 'one/picture.png', 'one/empty.txt', 'one', 'nothing', '%zz', 'one/../one/SKILL.md'].map(
    path => `${BASE}/${path}`,
  )
  const reads = [...uris, BASE, 'skill://other/one/SKILL.md', 'file:///one', 'none'].map(uri =>
    message('resources/read', { name: uri, uri }),
  )
  test.each(named([...reads, ...reads.map(legacy)]))('is read as the SDK reads it: %s', async (_, sent) => {
    expect(await answerOfService(sent)).toEqual(await readBySdk(sent))
  })

  test('is encoded in a turn of the event loop that no other one gets, however many are read', async () => {
    const source = sourceOfSkills()
    const counted = countTurns()
    const served = await Promise.all(
      Array.from({ length: 5 }, async () => {
        expect(await source.readResource(`${BASE}/one/picture.png`)).toHaveProperty('contents')
        return counted.turn()
      }),
    )
    counted.stop()
    expect(new Set(served).size).toBe(served.length)
  })
})
