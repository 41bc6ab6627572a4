import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { legacy, message } from './scene.ts'

const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILL.md': '---\nname: root\ndescription: At the root.\n---\nDo it.\n',
  'skills/one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it.\n',
  'skills/one/two words.md': '# Two words\n',
  'skills/one/100%25.md': '# Percent\n',
  'docs/guide.md': '# Guide\n',
}
const ADDRESS = '/local/acme/tools'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

type Given = Record<string, unknown>

async function call(name: string, given: unknown, address = ADDRESS) {
  const asked = message('tools/call', { name, arguments: given })
  const answer = await app.app.inject({ method: 'POST', url: `/mcp${address}`, ...asked })
  return answer.json()
}

async function bodyOf(name: string, given: Given, address = ADDRESS) {
  return (await call(name, given, address)).result.structuredContent
}

describe('an argument that is null', () => {
  test.each<[string, Given, Given]>([
    ['browse_repo', { path: null, cursor: null, limit: null }, {}],
    ['search_repo', { query: 'first', path: null, cursor: null, limit: null }, { query: 'first' }],
    ['load_skill', { path: 'skills/one/SKILL.md', cursor: null }, { path: 'skills/one/SKILL.md' }],
    ['read_repo_file', { path: 'docs/guide.md', offset: null, limit: null }, { path: 'docs/guide.md' }],
  ])('of %s counts as absent', async (name, given, plain) => {
    expect(await bodyOf(name, given)).toEqual(await bodyOf(name, plain))
    expect(await bodyOf(name, { address: 'local/acme/tools', ...given }, '')).toEqual(await bodyOf(name, plain))
  })

  test('and required is missing', async () => {
    const { error } = await bodyOf('load_skill', { path: null })
    expect(error).toMatchObject({ code: 'request.invalid', message: expect.stringContaining('path is missing') })
  })

  test.each(['arguments', '_meta', 'params'])('as %s is absent, also for clients of older revisions', async member => {
    const asked = legacy(message(member === 'params' ? 'tools/list' : 'tools/call', { name: 'browse_repo', arguments: {} }))
    const sent = JSON.parse(asked.payload)
    const payload = JSON.stringify(
      member === 'params' ? { ...sent, params: null } : { ...sent, params: { ...sent.params, [member]: null } },
    )
    const answer = await app.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, headers: asked.headers, payload })
    expect(answer.body).toMatch(member === 'params' ? /"tools":\[/ : /"status":"ready"/)
  })
})

test.each<[what: string, given: unknown]>([
  ['a text', '{}'],
  ['a list', []],
  ['a number', 7],
])('arguments that are %s are refused in words, and not by the report of a validator', async (_, given) => {
  const { error } = await call('browse_repo', given)
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('arguments has to be an object') })
  expect(JSON.stringify(error)).not.toContain('invalid_type')
})

describe('a path in the forms that models write', () => {
  test.each<[string, Given, string]>([
    ['browse_repo', {}, ''],
    ['browse_repo', {}, 'skills'],
    ['search_repo', { query: 'first' }, 'skills'],
    ['load_skill', {}, 'skills/one/SKILL.md'],
    ['read_repo_file', {}, 'docs/guide.md'],
  ])('is read by %s %o like %j', async (name, given, path) => {
    const expected = await bodyOf(name, { ...given, path })
    expect(expected.error).toBeUndefined()
    const spellings = [
      `/${path}`,
      `./${path}`,
      `${path}/`,
      `/${path}/.`,
      `.//${path}`,
      `x/../${path}`,
      `\\${path.replaceAll('/', '\\')}`,
    ]
    for (const spelling of path === '' ? [...spellings, '.', './'] : spellings)
      expect(await bodyOf(name, { ...given, path: spelling }), spelling).toEqual(expected)
  })

  test.each(['/', '.', './', ''])('%j is the folder of the address, where the address has one', async path => {
    const address = `${ADDRESS}/skills`
    expect(await bodyOf('browse_repo', { path }, address)).toMatchObject({ status: 'ready', path: 'skills' })
    expect(await bodyOf('search_repo', { path, query: 'first' }, address)).toMatchObject({ status: 'ready' })
  })

  test('may have URL escapes, if no file has them in its name', async () => {
    expect(await bodyOf('read_repo_file', { path: 'skills/one/two%20words.md' })).toMatchObject({ content: '# Two words\n' })
    expect(await bodyOf('read_repo_file', { path: 'skills%2Fone%2Ftwo%20words.md' })).toMatchObject({ content: '# Two words\n' })
    expect(await bodyOf('read_repo_file', { path: 'skills/one/100%25.md' })).toMatchObject({ content: '# Percent\n' })
    expect(await bodyOf('read_repo_file', { path: 'skills/one/no%20words.md' })).toMatchObject({
      error: { code: 'file.not_found' },
    })
  })

  test.each(['..', '../docs', 'skills/../../docs', '%2e%2e/docs', 'a\u0000b'])('%j leads nowhere', async path => {
    for (const name of ['browse_repo', 'read_repo_file', 'load_skill'])
      expect((await bodyOf(name, { path })).error?.code, name).toMatch(/^request\.invalid$|not_found$/)
  })

  test('is canonical in the call that a text proposes', async () => {
    const { result } = await call('browse_repo', { path: './skills/', limit: '1', cursor: '' }, `${ADDRESS}`)
    expect(result.structuredContent).toMatchObject({ path: 'skills' })
    const more = await call('browse_repo', { path: '/skills/one', limit: '1' })
    expect(more.result.content[0].text).toContain('"path":"skills/one"')
  })

  test('is refused by the REST interface', async () => {
    for (const path of ['/', '.', '/skills', 'skills/', './skills'])
      expect((await app.get(`/api/v1/browse${ADDRESS}?path=${encodeURIComponent(path)}`)).status).toBe(400)
  })
})

test('numbers may be quoted, and an empty cursor is the first page', async () => {
  const numbers = await bodyOf('browse_repo', { limit: '2', cursor: '' })
  expect(numbers).toMatchObject({ status: 'ready' })
  expect(numbers.entries).toHaveLength(2)
  expect(await bodyOf('read_repo_file', { path: 'docs/guide.md', offset: '2', limit: '3' })).toMatchObject({ content: 'Gui' })
  for (const limit of ['ten', '-1', '1e2', '0', '999999999999999999'])
    expect(await bodyOf('browse_repo', { limit }), limit).toMatchObject({ error: { code: 'request.invalid' } })
})
