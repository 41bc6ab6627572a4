import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { NO_CONTENT } from '#api/operator/operator-content.ts'
import { readOperatorFolder } from '#api/operator/read-folder.ts'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import { folderOf } from '#test/support/operator-folder.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { smallPictures } from '#test/support/pictures.ts'
import { BASE_URL, type TestApp, type TestAppOptions, testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'

const { PNG, GIF, JPEG, WEBP } = await smallPictures()
const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`

const HANDBOOK = {
  LICENSE: 'All rights reserved.\n',
  'SKILLSET.md': '---\nname: Handbook\ndescription: How we work.\nimage: public/own.png\n---\n',
  'public/SKILLSET.md': '---\nlicense: CC0-1.0\n---\n',
  'public/own.png': PNG,
  ...Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(name => [`${name}/SKILL.md`, skill(name)])),
}

const REPOSITORIES = {
  'acme/handbook': HANDBOOK,
  'acme/free': { 'one/SKILL.md': skill('one') },
  'acme/mixed': { 'one/SKILL.md': skill('one'), 'two/SKILL.md': skill('two', 'license: MIT\n') },
}

let app: TestApp | null = null

afterEach(async () => {
  await app?.close()
  app = null
})

/** The service with this `featured.yaml` and these pictures. */
async function start(
  yaml: string | null,
  pictures: Readonly<Record<string, Uint8Array>> = {},
  options: TestAppOptions = {},
): Promise<TestApp> {
  const folder = await folderOf({ ...(yaml === null ? {} : { 'featured.yaml': yaml }), ...pictures })
  app = await testApp(REPOSITORIES, { ...options, operator: await readOperatorFolder(folder, BASE_URL) })
  return app
}

const items = async (at: TestApp): Promise<AnswerOf<'featured'>['items']> => {
  const { status, json, body } = await at.get('/api/v1/featured')
  expect(status, body).toBe(200)
  return (json as AnswerOf<'featured'>).items
}

const addresses = async (at: TestApp) => (await items(at)).map(({ address }) => address)
const nameOf = (bytes: Uint8Array, extension: string) => `${createHash('sha256').update(bytes).digest('hex')}.${extension}`

describe('the cards', () => {
  test('keep the order of the operator, and start indexing repositories without an index', async () => {
    const at = await start('- address: /local/acme/mixed\n- address: /local/acme/handbook\n')
    const first = await items(at)
    expect(first.map(({ address, index }) => [address, index.status])).toEqual([
      ['/local/acme/mixed', 'indexing'],
      ['/local/acme/handbook', 'indexing'],
    ])
    expect(await at.index()).toBe(2)
    expect((await items(at)).map(({ index }) => index.status)).toEqual(['ready', 'ready'])
  })

  test('carry what the mount reports: introduction, number of skills, names of a few skills', async () => {
    const at = await start('- address: /local/acme/handbook\n')
    await at.open('/local/acme/handbook')
    const mount = await at.ask('mounts', '/local/acme/handbook')
    if (mount.index.status !== 'ready') throw new Error(mount.index.status)
    const { manifest, license, counts } = mount.index
    expect(await items(at)).toEqual([
      {
        address: '/local/acme/handbook',
        repository: mount.repository,
        verified: false,
        image: mount.image,
        index: { status: 'ready', manifest, license, counts, skillNames: ['a', 'b', 'c', 'd', 'e'] },
      },
    ])
    expect(mount.image).toContain('/own.png')
  })

  test('may be of a folder at a ref, and then count the skills in it only', async () => {
    const at = await start('- address: /local/acme/handbook@main/b\n')
    await at.open('/local/acme/handbook')
    expect(await items(at)).toMatchObject([
      {
        address: '/local/acme/handbook@main/b',
        index: { counts: { skills: 1 }, skillNames: ['b'], manifest: { path: 'SKILLSET.md' } },
      },
    ])
  })

  test('report a failed index, and when it is retried', async () => {
    const at = await start('- address: /local/acme/handbook\n')
    await at.open('/local/acme/free')
    await at.get('/api/v1/mounts/local/acme/handbook')
    const lease = await at.queue.take('test')
    if (lease) await at.queue.fail(lease, 'index.too_large')
    expect(await items(at)).toMatchObject([
      { index: { status: 'failed', errorCode: 'index.too_large', retryAt: expect.any(String) } },
    ])
  })

  test('are of the reference repository while the operator has selected none', async () => {
    for (const yaml of [null, '', '# nothing yet\n', '[]\n']) {
      const folder = await folderOf(yaml === null ? {} : { 'featured.yaml': yaml })
      expect(await readOperatorFolder(folder, BASE_URL)).toEqual(NO_CONTENT)
    }
    expect(await readOperatorFolder(null, BASE_URL)).toBe(NO_CONTENT)
    app = await testApp({ 'mountglass/handbook': HANDBOOK, 'acme/tools': HANDBOOK })
    // Other local repositories are not featured, also once they are indexed.
    await app.open('/local/acme/tools')
    expect(await addresses(app)).toEqual(['/local/mountglass/handbook'])
  })

  test('are none where there is no reference repository either', async () => {
    expect(await items(await start(null))).toEqual([])
  })
})

describe('left out', () => {
  test('are addresses that cannot be resolved: no repository, no ref, no folder, no host, not served', async () => {
    const at = await start(
      [
        '/local/acme/nothing',
        '/local/acme/handbook@nothing',
        '/local/acme/handbook/nothing',
        '/gh/acme/handbook',
        '/local/acme/handbook',
        '/local/acme/mixed',
      ]
        .map(address => `- address: ${address}\n`)
        .join(''),
      {},
      { deps: deps => ({ ...deps, deny: [({ repository }) => repository === 'mixed'] }) },
    )
    await at.open('/local/acme/handbook')
    expect(await addresses(at)).toEqual(['/local/acme/handbook'])
  })

  test('are repositories whose index found no license, neither of the repository nor of a skill', async () => {
    const at = await start('- address: /local/acme/free\n- address: /local/acme/mixed\n- address: /local/acme/mixed/one\n')
    expect(await addresses(at)).toEqual(['/local/acme/free', '/local/acme/mixed', '/local/acme/mixed/one'])
    await at.index()
    expect(await addresses(at)).toEqual(['/local/acme/mixed'])
  })

  test('is a repository that the host hides or does not answer for in time; other cards do not wait for it', async () => {
    const at = await start(
      '- address: /gh/acme/handbook\n- address: /local/acme/handbook\n- address: /gh/acme/mixed\n',
      {},
      { github: { withToken: false } },
    )
    await at.github.shown('acme', 'handbook', { visibility: 'private' })
    expect(await addresses(at)).toEqual(['/local/acme/handbook', '/gh/acme/mixed'])
    at.advanceClock(700)
    at.github.faults.add({ status: 500, times: 99, match: { host: 'api' } })
    expect(await addresses(at)).toEqual(['/local/acme/handbook'])
    at.advanceClock(700)
    at.github.faults.clear()
    at.github.faults.add({ delaySeconds: 60, times: 99, match: { host: 'api' } })
    beImpatient(at)
    await until(async () => (await addresses(at)).join() === '/local/acme/handbook')
  })
})

test('the log names each card that is left out and why, once, and no reference repository without a visitor', async () => {
  const lines: { level: number; address?: string; reason?: string }[] = []
  const stream = { write: (line: string) => lines.push(JSON.parse(line)) }
  const logger = { level: 'warn', stream }
  const at = await start(
    ['/local/acme/handbok', '/gh/acme/handbook', '/local/acme/handbook@nothing', '/local/acme/free', '/local/acme/mixed']
      .map(address => `- address: ${address}\n`)
      .join(''),
    {},
    { logger, github: { withToken: false } },
  )
  for (const address of ['/local/acme/free', '/local/acme/mixed']) await at.open(address)
  at.github.faults.add({ delaySeconds: 60, times: 99, match: { host: 'api' } })
  beImpatient(at)
  const told = () => lines.map(({ level, address, reason }) => `${level} ${address} ${reason}`)
  // A machine with much to do may be late with others, too.
  const toldInTime = () => told().filter(line => !/\/local\/.* no answer in time$/.test(line))
  const omissions = [
    '40 /gh/acme/handbook no answer in time',
    '40 /local/acme/free no license found',
    '40 /local/acme/handbok mount.repo_not_found',
    '40 /local/acme/handbook@nothing mount.ref_not_found',
  ]
  await until(async () => {
    await addresses(at)
    return omissions.every(line => told().includes(line))
  })
  await until(async () => (await addresses(at)).join() === '/local/acme/mixed')
  expect(toldInTime().sort()).toEqual(omissions)
  expect(new Set(told()).size).toBe(told().length)

  await at.close()
  lines.length = 0
  expect(await items(await start(null, {}, { logger }))).toEqual([])
  expect(lines).toEqual([])
})

function beImpatient(at: TestApp): void {
  Object.assign(at.deps, { patienceMs: { card: IMPATIENT_MS, listings: IMPATIENT_MS } })
}

describe('a repository that the operator verified', () => {
  test('is verified on the card and on every mount of the repository, in any spelling that the host takes', async () => {
    const at = await start(
      '- address: /local/acme/handbook/b\n  verified: true\n- address: /gh/ACME/Mixed\n  verified: true\n',
      {},
      { github: { withToken: false } },
    )
    await at.open('/local/acme/handbook')
    for (const address of ['/local/acme/handbook', '/local/acme/handbook@main/b', '/gh/acme/mixed', '/gh/Acme/mixed@main']) {
      expect((await at.ask('mounts', address)).verified, address).toBe(true)
    }
    for (const address of ['/local/acme/mixed', '/local/acme/free', '/gh/acme/handbook']) {
      expect((await at.ask('mounts', address)).verified, address).toBe(false)
    }
    expect((await items(at)).map(({ address, verified }) => [address, verified])).toEqual([
      ['/local/acme/handbook/b', true],
      ['/gh/acme/mixed', true],
    ])
  })
})

describe("the operator's picture", () => {
  test("precedes the manifest's picture on the card and on the mount, even before indexing", async () => {
    const at = await start('- address: /local/acme/handbook\n  image: cover.png\n', { 'cover.png': PNG })
    const image = `${BASE_URL}/media/${nameOf(PNG, 'png')}`
    expect((await items(at))[0]).toMatchObject({ image, index: { status: 'indexing' } })
    expect(await at.ask('mounts', '/local/acme/handbook')).toMatchObject({ image, index: { status: 'indexing' } })
    await at.index()
    for (const address of ['/local/acme/handbook', '/local/acme/handbook@main', '/local/acme/handbook/b'])
      expect((await at.ask('mounts', address)).image, address).toBe(image)
    expect((await at.ask('mounts', '/local/acme/mixed')).image).toBeNull()
  })

  test('is that of the nearest featured folder, and of a ref only where the ref is asked for', async () => {
    const at = await start(
      [
        ['/local/acme/handbook', 'a.png'],
        ['/local/acme/handbook/b', 'b.gif'],
        ['/local/acme/handbook@v1', 'c.jpg'],
      ]
        .map(([address, image]) => `- address: ${address}\n  image: pictures/${image}\n`)
        .join(''),
      { 'pictures/a.png': PNG, 'pictures/b.gif': GIF, 'pictures/c.jpg': JPEG },
    )
    const repository = at.repository('acme/handbook')
    await repository.tag('v1', at.commitOf('acme/handbook'))
    await at.open('/local/acme/handbook')
    const imageOf = async (address: string) => (await at.ask('mounts', address)).image?.replace(/.*\./, '')
    expect(await imageOf('/local/acme/handbook')).toBe('png')
    expect(await imageOf('/local/acme/handbook/a')).toBe('png')
    expect(await imageOf('/local/acme/handbook/b')).toBe('gif')
    expect(await imageOf('/local/acme/handbook@v1')).toBe('jpg')
    expect(await imageOf('/local/acme/handbook@v1/b')).toBe('gif')
  })

  test('is served under its hash, immutable, with ranges, with the type of its bytes, to any origin', async () => {
    const pictures = { 'a.txt': PNG, b: GIF, 'c.png': JPEG, 'd.webp': WEBP }
    const yaml = Object.keys(pictures).map(name => `- address: /local/acme/handbook/${name[0]}\n  image: ${name}\n`)
    const at = await start(yaml.join(''), pictures)
    for (const [bytes, extension, type] of [
      [PNG, 'png', 'image/png'],
      [GIF, 'gif', 'image/gif'],
      [JPEG, 'jpg', 'image/jpeg'],
      [WEBP, 'webp', 'image/webp'],
    ] as const) {
      const url = `/media/${nameOf(bytes, extension)}`
      const { statusCode, headers, rawPayload } = await at.app.inject(url)
      expect([statusCode, rawPayload]).toEqual([200, bytes])
      expect(headers).toMatchObject({
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        'accept-ranges': 'bytes',
        'content-length': String(bytes.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'cross-origin',
      })
      const part = await at.app.inject({ url, headers: { range: 'bytes=1-3' } })
      expect([part.statusCode, part.rawPayload]).toEqual([206, bytes.subarray(1, 4)])
      expect(part.headers['content-range']).toBe(`bytes 1-3/${bytes.length}`)
      expect((await at.app.inject({ url, headers: { 'if-none-match': String(headers.etag) } })).statusCode).toBe(304)
      const head = await at.app.inject({ url, method: 'HEAD' })
      expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', String(bytes.length)])
    }
  })

  test('is the only content under /media/', async () => {
    const at = await start('- address: /local/acme/handbook\n  image: cover.png\n', { 'cover.png': PNG })
    const name = nameOf(PNG, 'png')
    const rests = ['', '~', 'cover.png', 'featured.yaml', name.replace('.png', ''), name.replace('.png', '.gif'), `${name}/`]
    for (const rest of [...rests, name.toUpperCase(), '%2e%2e/featured.yaml', '%ZZ', `x/${name}`]) {
      const { statusCode, headers } = await at.app.inject(`/media/${rest}`)
      expect([rest, statusCode]).toEqual([rest, 404])
      expect(String(headers['cache-control'])).not.toContain('immutable')
    }
  })
})
