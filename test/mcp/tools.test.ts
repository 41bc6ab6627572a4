import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nname: Tools\ndescription: Tools of Acme.\n---\nBe kind.\n',
  'skills/one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it.\n',
  'docs/guide.md': '# Guide\n\nOne.\n',
}

let app: TestApp
let url: string

beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES, 'acme/later': FILES })
  await app.open('/local/acme/tools')
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(app.app.server.address() as { port: number }).port}`
})
afterAll(() => app.close())

async function connect(path: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url + path)))
  return client
}

describe('the server of an address', () => {
  test('introduces itself and lists four tools', async () => {
    const client = await connect('/mcp/local/acme/tools')
    console.log(client.getInstructions(), client.getServerCapabilities())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['browse_repo', 'search_repo', 'load_skill', 'read_repo_file'])
    for (const [name, args] of [
      ['browse_repo', {}],
      ['search_repo', { query: 'first' }],
      ['load_skill', { path: 'skills/one/SKILL.md' }],
      ['read_repo_file', { path: 'docs/guide.md', limit: 5 }],
      ['load_skill', { path: 'nothing' }],
      ['browse_repo', { limit: 'x', foo: 1 }],
    ] as const) {
      const result = await client.callTool({ name, arguments: args })
      console.log(name, result.isError, (result.content as { text: string }[])[0]?.text, result._meta, JSON.stringify(result.structuredContent).slice(0, 200))
    }
    await client.close()
  })
})
