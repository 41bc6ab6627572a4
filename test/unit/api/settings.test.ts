import { expect, test } from 'vitest'
import { parseSettings } from '#api/config.ts'
import { formatNewKeys } from '#api/keys.ts'
import { parseInfraSettings } from '#infra/config.ts'

test('without any variable the service listens on the loopback, keeps its store beside it and indexes', () => {
  expect(parseSettings({})).toEqual({
    host: '127.0.0.1',
    port: 4321,
    keys: null,
    indexer: 'inline',
    allow: null,
    deny: [],
    operator: null,
    logLevel: 'info',
  })
  expect(parseInfraSettings({})).toEqual({
    baseUrl: 'http://127.0.0.1:4321',
    store: { kind: 'disk', folder: '.mountglass' },
    localRepositories: null,
    github: { url: 'https://github.com', apiUrl: 'https://api.github.com', token: null, webhookSecret: null },
  })
})

test('GitHub may be off, an Enterprise Server with its API below its address, or lie at two addresses', () => {
  expect(parseInfraSettings({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_GITHUB_TOKEN: 'unused' }).github).toBeNull()
  expect(
    parseInfraSettings({ MOUNTGLASS_GITHUB_URL: 'https://git.example.org/', MOUNTGLASS_GITHUB_TOKEN: 'secret' }).github,
  ).toEqual({ url: 'https://git.example.org', apiUrl: 'https://git.example.org/api/v3', token: 'secret', webhookSecret: null })
  expect(
    parseInfraSettings({ MOUNTGLASS_GITHUB_URL: 'http://127.0.0.1:1', MOUNTGLASS_GITHUB_API_URL: 'http://127.0.0.1:2/' }).github,
  ).toMatchObject({ url: 'http://127.0.0.1:1', apiUrl: 'http://127.0.0.1:2' })
})

test('an empty variable counts as not set', () => {
  expect(parseSettings({ PORT: '', MOUNTGLASS_KEYS: '', MOUNTGLASS_ALLOW: '' })).toEqual(parseSettings({}))
})

test('the base URL is the one given, without the slash at its end, or follows from host and port', () => {
  expect(parseInfraSettings({ MOUNTGLASS_BASE_URL: 'https://skills.example.org/' }).baseUrl).toBe('https://skills.example.org')
  expect(parseInfraSettings({ HOST: '::1', PORT: '80' }).baseUrl).toBe('http://[::1]:80')
})

test.for([
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['MOUNTGLASS_KEYS', 'secret-value'],
  ['MOUNTGLASS_INDEXER', 'worker'],
  ['MOUNTGLASS_ALLOW', 'gh/acme'],
  ['MOUNTGLASS_DENY', 'gh/acme/*,acme'],
  ['MOUNTGLASS_LOG', 'loud'],
  ['MOUNTGLASS_STORE', 'folder'],
  ['MOUNTGLASS_STORE', 'disk:'],
  ['MOUNTGLASS_STORE', 's3:bucket'],
  ['MOUNTGLASS_BASE_URL', 'mountglass.example'],
  ['MOUNTGLASS_BASE_URL', 'ftp://mountglass.example'],
  ['MOUNTGLASS_GITHUB', 'yes'],
  ['MOUNTGLASS_GITHUB_URL', 'github.com'],
  ['MOUNTGLASS_GITHUB_URL', 'https://github.com/acme'],
  ['MOUNTGLASS_GITHUB_API_URL', 'https://secret-value@api.github.com'],
  ['MOUNTGLASS_GITHUB_API_URL', 'file:///etc'],
  ['MOUNTGLASS_GITHUB_TOKEN', 'secret-value and more'],
  ['MOUNTGLASS_GITHUB_WEBHOOK_SECRET', 'secret-value'],
  ['MOUNTGLASS_BASE_URL', 'https://mountglass.example/?a=b'],
] as const)('%s="%s" stops the start with one line that names the variable and not its value', ([variable, value]) => {
  const parse = () => [parseSettings({ [variable]: value }), parseInfraSettings({ [variable]: value })]
  expect(parse).toThrow(new RegExp(`^${variable}: [^\\n]+$`))
  expect(parse).not.toThrow(/secret-value/)
})

test('an s3 store is refused because this build has no driver for it', () => {
  expect(() => parseInfraSettings({ MOUNTGLASS_STORE: 's3:bucket/prefix' })).toThrow(/no driver/)
})

test('keys and patterns are parsed', () => {
  const { keys, allow, deny } = parseSettings({
    MOUNTGLASS_KEYS: formatNewKeys('a', Buffer.alloc(32)),
    MOUNTGLASS_ALLOW: 'gh/acme/*, local/*/*',
    MOUNTGLASS_DENY: 'gh/acme/secret',
  })
  expect(keys?.map(key => key.kid)).toEqual(['a'])
  expect(allow?.map(rule => rule({ host: 'local', owner: 'x', repository: 'y' }))).toEqual([false, true])
  expect(deny.map(rule => rule({ host: 'gh', owner: 'acme', repository: 'secret' }))).toEqual([true])
})
