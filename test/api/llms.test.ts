import { afterAll, beforeAll, expect, test } from 'vitest'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/tools': {
      'package.json': '{"license":"MIT"}\n',
      'SKILLSET.md': '---\nname: Tools\ndescription: Tools of Acme.\nexclude: [secret/]\n---\nBe kind.\n',
      'skills/one/SKILL.md': '---\nname: one\ndescription: "The first](http://evil.test) <b>one</b>"\n---\nDo it.\n',
      'secret/SKILL.md': '---\nname: secret\ndescription: Excluded.\n---\nx\n',
      'docs/a guide.md': '# Guide\n\nHow to.\n',
    },
    'acme/later': { 'a.md': '# A\n' },
    'acme/refused': { 'package.json': '{"license":"MIT"}\n', 'a/SKILL.md': '---\nname: a\n---\nx\n', 'b/SKILL.md': 'x\n' },
    'acme/unlicensed': { 'a/SKILL.md': '---\nname: a\ndescription: A.\n---\nx\n' },
  })
  await app.open('/local/acme/tools')
})
afterAll(() => app.close())

test('llms.txt describes an address and how an agent reads it', async () => {
  const { status, headers, body } = await app.get('/local/acme/tools/llms.txt')
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'public, max-age=60',
  ])
  expect(body).toMatch(/^# local\/acme\/tools\n\n> 1 skills? and 1 documents? at commit [0-9a-f]{40}\. Tools: Tools of Acme\.\n/)
  expect(body).toContain(`- MCP server: ${BASE_URL}/mcp/local/acme/tools\n`)
  expect(body).toContain(
    `- [one](${BASE_URL}/api/v1/skills/local/acme/tools?path=skills/one/SKILL.md): The first (http://evil.test) b one /b\n`,
  )
  expect(body).toContain(`- [Guide](${BASE_URL}/api/v1/files/local/acme/tools?path=docs/a%20guide.md): How to.\n`)
  expect(body).not.toMatch(/secret/i)
})

test('llms.txt names the install command if skills can be installed, in a form without prompts', async () => {
  const bodyOf = async (address: string) => (await app.get(`${address}/llms.txt`)).body
  const command = 'npx --yes skills add'
  expect(await bodyOf('/local/acme/tools')).toContain(`\`${command} ${BASE_URL}/local/acme/tools\``)
  expect(await bodyOf('/local/acme/tools/skills/one')).toContain(`${command} ${BASE_URL}/local/acme/tools/skills/one`)
  expect(await bodyOf('/local/acme/tools/docs')).not.toContain('skills add')
  for (const name of ['refused', 'unlicensed']) {
    expect(await bodyOf(`/local/acme/${name}`)).not.toContain('skills add')
    await app.open(`/local/acme/${name}`)
    expect(await bodyOf(`/local/acme/${name}`)).not.toContain('skills add')
  }
})

test('llms.txt of a folder, of a repository being indexed, and of a missing one', async () => {
  expect((await app.get('/local/acme/tools/docs/llms.txt')).body).toContain('> 0 skills and 1 document at commit')
  const later = await app.get('/local/acme/later/llms.txt')
  expect([later.status, later.headers['cache-control']]).toEqual([200, 'no-store'])
  expect(later.body).toContain('> The repository is being read: ask again in a second.')
  expect((await app.get('/local/acme/none/llms.txt')).status).toBe(404)
})

test('llms.txt of the service lists its interfaces', async () => {
  const { status, body } = await app.get('/llms.txt')
  expect(status).toBe(200)
  expect(body).toContain(`${BASE_URL}/mcp/<address>`)
})
