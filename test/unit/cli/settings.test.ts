import { expect, test } from 'vitest'
import { formatNewKeys } from '#api/purpose-keys.ts'
import { parseSettings, SERVICE_SETTINGS } from '#cli/service-settings.ts'
import { homePath, unknownSettings } from '#core/settings.ts'
import { WORKER_SETTINGS } from '#indexer/jobs/worker-settings.ts'
import { defaultStoreFolder, INFRA_SETTINGS, parseInfraSettings } from '#infra/infra-settings.ts'
import { dataFolder } from '#infra/system/user-folders.ts'

test('without variables the service listens on the loopback, keeps its store beside it and indexes', () => {
  expect(parseSettings({})).toEqual({
    host: '127.0.0.1',
    port: 4321,
    keys: null,
    idKey: null,
    localSource: 'withheld',
    indexer: 'inline',
    allow: null,
    deny: [],
    operator: null,
    monitoring: null,
    toolBytes: 24_576,
    refreshGraceSeconds: 300,
    drainSeconds: 0,
    logLevel: 'info',
  })
  expect(parseInfraSettings({})).toEqual({
    baseUrl: 'http://127.0.0.1:4321',
    store: { kind: 'disk', folder: '.mountglass' },
    privateStore: null,
    database: null,
    leaseSeconds: 15,
    localRepositories: null,
    github: {
      url: 'https://github.com',
      apiUrl: 'https://api.github.com',
      avatarOrigins: ['https://avatars.githubusercontent.com'],
      token: null,
      webhookSecret: null,
      app: null,
    },
  })
})

test('the store that no setting names lies in the current folder of a checkout, and from a package in the data of the user', () => {
  expect(defaultStoreFolder({ HOME: '/home/ada' })).toBe('.mountglass')
  expect(defaultStoreFolder({ HOME: '/home/ada', XDG_DATA_HOME: '/data' }, false)).toBe(
    dataFolder({ HOME: '/home/ada', XDG_DATA_HOME: '/data' }),
  )
  expect(() => defaultStoreFolder({}, false)).toThrow(/^MOUNTGLASS_STORE: must be set/)
})

test('GitHub may be off, an Enterprise Server with its API below its address, or lie at two addresses', () => {
  expect(parseInfraSettings({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_GITHUB_TOKEN: 'unused' }).github).toBeNull()
  expect(
    parseInfraSettings({ MOUNTGLASS_GITHUB_URL: 'https://git.example.org/', MOUNTGLASS_GITHUB_TOKEN: 'secret' }).github,
  ).toEqual({
    url: 'https://git.example.org',
    apiUrl: 'https://git.example.org/api/v3',
    avatarOrigins: ['https://git.example.org'],
    token: 'secret',
    webhookSecret: null,
    app: null,
  })
  expect(
    parseInfraSettings({ MOUNTGLASS_GITHUB_URL: 'http://127.0.0.1:1', MOUNTGLASS_GITHUB_API_URL: 'http://127.0.0.1:2/' }).github,
  ).toMatchObject({ url: 'http://127.0.0.1:1', apiUrl: 'http://127.0.0.1:2' })
})

test("pictures of accounts have GitHub's origin for them, or the origins of an own host", () => {
  const avatarOriginsOf = (env: NodeJS.ProcessEnv) => parseInfraSettings(env).github?.avatarOrigins
  const further = { MOUNTGLASS_AVATAR_ORIGINS: 'https://avatars.example.org, http://127.0.0.1:3' }
  expect(avatarOriginsOf(further)).toEqual(['https://avatars.githubusercontent.com'])
  expect(
    avatarOriginsOf({
      MOUNTGLASS_GITHUB_URL: 'http://127.0.0.1:1',
      MOUNTGLASS_GITHUB_API_URL: 'http://127.0.0.1:2/v3',
      ...further,
    }),
  ).toEqual(['http://127.0.0.1:1', 'http://127.0.0.1:2', 'https://avatars.example.org', 'http://127.0.0.1:3'])
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
  ['MOUNTGLASS_LOCAL_SOURCE', 'on'],
  ['MOUNTGLASS_LOG', 'loud'],
  ['MOUNTGLASS_METRICS_PORT', '65536'],
  ['MOUNTGLASS_REFRESH_GRACE_SECONDS', '1801'],
  ['MOUNTGLASS_REFRESH_GRACE_SECONDS', '-1'],
  ['MOUNTGLASS_DRAIN_SECONDS', '301'],
  ['MOUNTGLASS_DRAIN_SECONDS', '1.5'],
  ['MOUNTGLASS_LEASE_SECONDS', '1'],
  ['MOUNTGLASS_STORE', 'folder'],
  ['MOUNTGLASS_STORE', 'disk:'],
  ['MOUNTGLASS_STORE', 's3:'],
  ['MOUNTGLASS_STORE', 's3:ab'],
  ['MOUNTGLASS_STORE', 's3:bucket/a//b'],
  ['MOUNTGLASS_STORE', 's3:bucket//'],
  ['MOUNTGLASS_STORE', 's3:bucket/../other'],
  ['MOUNTGLASS_STORE', 's3:bucket/ä'],
  ['MOUNTGLASS_STORE', `s3:bucket/${'x'.repeat(128)}`],
  ['MOUNTGLASS_PRIVATE_STORE', 'disk:folder'],
  ['MOUNTGLASS_PRIVATE_STORE', 's3:private'],
  ['MOUNTGLASS_DATABASE', 'mysql://user:secret-value@127.0.0.1/mountglass'],
  ['MOUNTGLASS_DATABASE', 'postgres://user:secret-value@127.0.0.1'],
  ['MOUNTGLASS_DATABASE', 'postgres://user:secret-value%zz@127.0.0.1/mountglass'],
  ['MOUNTGLASS_DATABASE', 'postgres://user:secret-value@[::1/mountglass'],
  ['MOUNTGLASS_DATABASE', 'secret-value'],
  ['MOUNTGLASS_BASE_URL', 'mountglass.example'],
  ['MOUNTGLASS_BASE_URL', 'ftp://mountglass.example'],
  ['MOUNTGLASS_GITHUB', 'yes'],
  ['MOUNTGLASS_AVATAR_ORIGINS', 'https://avatars.example.org/u'],
  ['MOUNTGLASS_GITHUB_URL', 'github.com'],
  ['MOUNTGLASS_GITHUB_URL', 'https://github.com/acme'],
  ['MOUNTGLASS_GITHUB_API_URL', 'https://secret-value@api.github.com'],
  ['MOUNTGLASS_GITHUB_API_URL', 'file:///etc'],
  ['MOUNTGLASS_GITHUB_TOKEN', 'secret-value and more'],
  ['MOUNTGLASS_BASE_URL', 'https://mountglass.example/?a=b'],
] as const)('%s="%s" stops the start with one line that names the variable and not its value', ([variable, value]) => {
  const parse = () => [parseSettings({ [variable]: value }), parseInfraSettings({ [variable]: value })]
  expect(parse).toThrow(new RegExp(`^${variable}: [^\\n]+$`))
  expect(parse).not.toThrow(/secret-value/)
})

test('the secret of a webhook may have any length, as at the host', () => {
  expect(parseInfraSettings({ MOUNTGLASS_GITHUB_WEBHOOK_SECRET: 'short' }).github?.webhookSecret).toBe('short')
})

const inBucket = (env: NodeJS.ProcessEnv) => parseInfraSettings({ MOUNTGLASS_STORE: 's3:data', ...env })
const s3 = { kind: 's3', bucket: 'data', prefix: '', endpoint: null, region: null, credentials: null }

test('a store may be a bucket, or a prefix of it; the SDK finds the rest', () => {
  expect(inBucket({})).toMatchObject({ store: s3, privateStore: null })
  expect(inBucket({ MOUNTGLASS_STORE: 's3:data/fleet/one/' }).store).toEqual({ ...s3, prefix: 'fleet/one' })
  expect(inBucket({ AWS_REGION: 'eu-west-1' }).store).toEqual({ ...s3, region: 'eu-west-1' })
})

test('a server of one’s own is the one that the variables of the SDK name, in a region that is there for form', () => {
  const AWS_ENDPOINT_URL = 'http://127.0.0.1:1/'
  expect(inBucket({ AWS_ENDPOINT_URL }).store).toEqual({ ...s3, endpoint: 'http://127.0.0.1:1', region: 'us-east-1' })
  expect(inBucket({ AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3: 'https://s3.example.org', AWS_REGION: 'x' }).store).toEqual({
    ...s3,
    endpoint: 'https://s3.example.org',
    region: 'x',
  })
  expect(() => inBucket({ AWS_ENDPOINT_URL_S3: 'https://user:secret-value@s3.example.org' })).toThrow(
    /^AWS_ENDPOINT_URL_S3: must be a URL like https:\/\/s3\.example\.org, without credentials, query and fragment$/,
  )
  expect(() => inBucket({ AWS_ENDPOINT_URL_S3: 'https://user:secret-value@s3.example.org' })).not.toThrow(/secret-value/)
})

test('private repositories may have their own bucket, with its own credentials', () => {
  const [id, secret] = ['MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID', 'MOUNTGLASS_PRIVATE_AWS_SECRET_ACCESS_KEY']
  const withPrivate = (env: NodeJS.ProcessEnv = {}) => inBucket({ MOUNTGLASS_PRIVATE_STORE: 's3:hidden/a', ...env }).privateStore
  const hidden = { ...s3, bucket: 'hidden', prefix: 'a' }
  expect(withPrivate()).toEqual(hidden)
  expect(withPrivate({ [id]: 'key', [secret]: 'secret' })).toEqual({
    ...hidden,
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
  })
  expect(() => withPrivate({ [id]: 'key' })).toThrow(new RegExp(`^${secret}: `))
  expect(() => withPrivate({ [secret]: 'secret' })).toThrow(new RegExp(`^${id}: `))
})

test.for([
  ['s3:data', 's3:data'],
  ['s3:data', 's3:data/hidden'],
  ['s3:data/fleet', 's3:data'],
  ['s3:data/fleet', 's3:data/fleet/hidden'],
])('of %s and %s one contains the other, so the setting is refused', ([store, hidden]) => {
  expect(() => inBucket({ MOUNTGLASS_STORE: store, MOUNTGLASS_PRIVATE_STORE: hidden })).toThrow(/^MOUNTGLASS_PRIVATE_STORE: /)
})

test.for([
  ['s3:data', 's3:hidden'],
  ['s3:data/fleet', 's3:data/fleet-hidden'],
  ['s3:data/a', 's3:data/b'],
])('%s and %s are apart', ([store, hidden]) => {
  expect(inBucket({ MOUNTGLASS_STORE: store, MOUNTGLASS_PRIVATE_STORE: hidden }).privateStore).not.toBeNull()
})

test('documents and jobs may be in a database, beside a shared store', () => {
  for (const database of [
    'postgres://user:pass%40word@database.example.org:5433/mountglass?sslmode=verify-full',
    'postgresql:///mountglass?host=/run/postgresql',
  ]) {
    expect(parseInfraSettings({ MOUNTGLASS_DATABASE: database }).database).toBe(database)
    expect(inBucket({ MOUNTGLASS_DATABASE: database }).database).toBe(database)
    expect(() => parseInfraSettings({ MOUNTGLASS_DATABASE: database, MOUNTGLASS_STORE: 'memory:' })).toThrow(
      /^MOUNTGLASS_DATABASE: needs a MOUNTGLASS_STORE that processes can share/,
    )
  }
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

test('a misspelled setting is reported with the similar one', () => {
  const known = [...SERVICE_SETTINGS, ...INFRA_SETTINGS, ...WORKER_SETTINGS]
  expect(known).toContain('MOUNTGLASS_DENY')
  expect(unknownSettings({ MOUNTGLASS_DENY: 'gh/a/b', PATH: '/bin', MOUNTGLASS_TEST_TIER: 'test' }, known)).toEqual([])
  const told = unknownSettings({ MOUNTGLASS_DNEY: 'gh/a/b', MOUNTGLASS_COLOUR_OF_THE_SKY: 'blue' }, known)
  expect(told).toEqual([
    'MOUNTGLASS_DNEY is no setting and has no effect; did you mean MOUNTGLASS_DENY?',
    'MOUNTGLASS_COLOUR_OF_THE_SKY is no setting and has no effect',
  ])
})

test.each([
  ['::1', '::1', 'http://[::1]:4321'],
  ['[::1]', '::1', 'http://[::1]:4321'],
  ['::', '::', 'http://[::]:4321'],
  ['fe80::1%eth0', 'fe80::1%eth0', 'http://[fe80::1]:4321'],
  ['localhost', 'localhost', 'http://localhost:4321'],
])('the host %s is listened on as %s, and links begin with %s', (HOST, host, baseUrl) => {
  expect([parseSettings({ HOST }).host, parseInfraSettings({ HOST }).baseUrl]).toEqual([host, baseUrl])
})

test.each([
  'a name',
  '[::1',
  '::1]',
  '[localhost]:80',
  '127.0.0.1:80',
  'http://localhost',
  'user@localhost',
  'localhost/',
  '::g',
])('%j is no host', HOST => {
  for (const parse of [parseSettings, parseInfraSettings]) expect(() => parse({ HOST })).toThrow(/^HOST: /)
})

test('a path that begins with ~ is below the home folder, which no shell puts in for a file of settings', () => {
  const env = { HOME: '/home/ada' }
  expect(parseInfraSettings({ ...env, MOUNTGLASS_STORE: 'disk:~/store' }).store).toEqual({
    kind: 'disk',
    folder: '/home/ada/store',
  })
  expect(parseInfraSettings({ ...env, MOUNTGLASS_LOCAL_REPOSITORIES: '~' }).localRepositories).toBe('/home/ada')
  expect(parseSettings({ ...env, MOUNTGLASS_OPERATOR: '~/operator' }).operator).toBe('/home/ada/operator')
  expect(homePath('X', './~ada', env)).toBe('./~ada')
  for (const [path, home] of [
    ['~bob/store', env],
    ['~', {}],
    ['~/store', { HOME: '' }],
  ] as const)
    expect(() => homePath('X', path, home)).toThrow(`X: ${path} `)
})
