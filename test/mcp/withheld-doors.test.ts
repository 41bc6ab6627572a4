import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { message } from './scene.ts'

/*
 * What the REST interface keeps back, every door for agents keeps back: tools, resources, archives, indexes, introductions.
 */

const ADDRESS = '/local/acme/mixed'
/** Words that only a withheld text has. */
const WITHHELD = /kept-back/
const skill = (name: string, body: string, more = '') => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`
const BINARY = Buffer.concat([Buffer.from([0x89, 0x50, 0xff, 0]), Buffer.from('kept-back')])
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nname: Mixed\nexclude: [secret/, "*.secret.md"]\n---\nBe kind.\n',
  'open/SKILL.md': skill('open', 'Do it. See [closed](../closed/notes.md), [secret](../secret/a.md), [own](own.secret.md).'),
  'open/own.secret.md': 'kept-back excluded beside an open skill\n',
  'closed/SKILL.md': skill('closed', 'kept-back of a skill that is described only', 'license: Proprietary\n'),
  'closed/notes.md': '# kept-back\n\nkept-back paragraph of a closed skill\n',
  'closed/logo.png': BINARY,
  'closed/inner/SKILL.md': skill('inner', 'kept-back of a skill inside of a closed one'),
  'secret/SKILL.md': skill('secret', 'kept-back of an excluded skill'),
  'secret/a.md': 'kept-back of an excluded folder\n',
  'vendor/LICENSE': 'All rights reserved. kept-back\n',
  'vendor/page.md': '---\ntitle: Page\n---\nkept-back paragraph without a license\n',
  'linked/SKILL.md': skill('linked', 'Do it.'),
  'linked/away.md': { link: '../closed/notes.md' },
  'outer/SKILL.md': skill('outer', 'Do it.'),
  'outer/nested/SKILL.md': skill('nested', 'kept-back of a nested skill', 'license: Proprietary\n'),
}
const PATHS = [...Object.keys(FILES), 'closed', 'secret', 'vendor', 'closed/inner', 'outer/nested']

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/mixed': FILES })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

async function ask(method: string, params: Record<string, unknown>): Promise<string> {
  const { body } = await app.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, ...message(method, params) })
  return body
}

/** The bytes of a GET, unpacked. */
async function bytesAt(url: string): Promise<string> {
  const { rawPayload, headers } = await app.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload).toString('latin1')
}

test('the words can be found: git has them, and the open skill is served', async () => {
  expect(await ask('tools/call', { name: 'load_skill', arguments: { path: 'open/SKILL.md' } })).toContain('Do it.')
  expect(Object.values(FILES).filter(file => WITHHELD.test(String(typeof file === 'string' ? file : ''))).length).toBeGreaterThan(
    8,
  )
})

describe('no withheld word is in', () => {
  test.each(PATHS)('a tool or a resource that is asked for %s', async path => {
    const uri = `skill:/${ADDRESS}/${path}`
    const answers = await Promise.all([
      ask('tools/call', { name: 'load_skill', arguments: { path } }),
      ask('tools/call', { name: 'read_repo_file', arguments: { path } }),
      ask('tools/call', { name: 'browse_repo', arguments: { path } }),
      ask('tools/call', { name: 'search_repo', arguments: { query: 'kept-back paragraph', path } }),
      ask('resources/read', { name: uri, uri }),
      ask('skills/get', { uri }),
      ask('resources/directory/read', { uri }),
    ])
    const blobs = answers.flatMap(answer =>
      [...answer.matchAll(/"blob":"([^"]*)"/g)].map(([, text]) => Buffer.from(text ?? '', 'base64')),
    )
    if (path !== 'vendor/LICENSE')
      for (const text of [...answers, ...blobs].map(String)) expect(withoutQuery(text)).not.toMatch(WITHHELD)
  })

  test('a list, an introduction or a search', async () => {
    const texts = await Promise.all([
      ask('server/discover', {}),
      ask('tools/list', {}),
      ask('skills/list', {}),
      ask('resources/list', {}),
      ask('tools/call', { name: 'search_repo', arguments: { query: 'kept-back' } }),
      ask('tools/call', { name: 'search_repo', arguments: { query: 'kept-back excluded beside' } }),
      bytesAt(`${ADDRESS}/llms.txt`),
      bytesAt('/llms.txt'),
    ])
    for (const text of texts) expect(withoutQuery(text)).not.toMatch(WITHHELD)
    expect(
      JSON.parse(texts[2] ?? '').result.skills.map((one: { frontmatter: { name: string } }) => one.frontmatter.name),
    ).toEqual(['open'])
  })

  test('an index, an archive, or a file of the older index', async () => {
    const index = await bytesAt(`${ADDRESS}/.well-known/agent-skills/index.json`)
    const older = await bytesAt(`${ADDRESS}/.well-known/skills/index.json`)
    for (const text of [index, older]) expect(text).not.toMatch(WITHHELD)
    const named: { name: string; url: string }[] = JSON.parse(index).skills
    expect(named.map(({ name }) => name)).toEqual(['open'])
    for (const { url } of named) expect(await bytesAt(url)).not.toMatch(WITHHELD)
    for (const path of Object.keys(FILES))
      for (const name of ['open', 'closed', 'linked', 'outer', 'secret'])
        for (const file of [path, path.slice(path.indexOf('/') + 1)])
          expect(
            await bytesAt(`${ADDRESS}/.well-known/skills/${name}/${file.split('/').map(encodeURIComponent).join('/')}`),
          ).not.toMatch(WITHHELD)
  })
})

/** An answer repeats the query of its request. */
function withoutQuery(text: string): string {
  return text.replaceAll('kept-back paragraph', '').replace(/(query\W{1,6}|for \W{0,3}|matches \W{0,3})kept-back[\w -]*/g, '')
}

describe('page by page', () => {
  const DOCUMENTS = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [`many/p${n}/page.md`, `# Page ${n}\n\nWords of the page ${n}.\n`]),
  )
  const BODY = 'A line of the long skill.\n'.repeat(2_500)

  test.each([
    ['browse_repo', 'browse', { path: 'many', limit: 7 }],
    ['search_repo', 'find', { query: 'words page', limit: 7 }],
    ['load_skill', 'skills', { path: 'long/SKILL.md' }],
    ['read_repo_file', 'files', { path: 'long/SKILL.md', limit: 9_000 }],
  ] as const)('%s answers what the REST interface does, each continuing the other', async (tool, endpoint, given) => {
    const paged = await testApp({
      'acme/paged': {
        'package.json': '{"license":"MIT"}\n',
        'SKILLSET.md': '---\nname: P\n---\nRule.\n',
        'long/SKILL.md': skill('long', BODY),
        ...DOCUMENTS,
      },
    })
    await paged.open('/local/acme/paged')
    let next: Record<string, string | number> = given
    let pages = 0
    for (; ; pages++) {
      const asked = message('tools/call', { name: tool, arguments: next })
      const answer = await paged.app.inject({ method: 'POST', url: '/mcp/local/acme/paged', ...asked })
      const query = new URLSearchParams(Object.entries(next).map(([key, value]): [string, string] => [key, String(value)]))
      const rest = (await paged.get(`/api/v1/${endpoint}/local/acme/paged?${query}`)).json
      const { structuredContent } = answer.json().result
      // The cursor is a function of the position: the same in both.
      expect(structuredContent).toEqual(rest)
      // In turn the cursor of the one and of the other.
      const from = pages % 2 === 0 ? structuredContent : rest
      if (from.nextCursor) next = { ...given, cursor: from.nextCursor }
      else if (from.nextOffset) next = { ...given, offset: from.nextOffset }
      else break
    }
    expect(pages).toBeGreaterThan(2)
    await paged.close()
  })
})
