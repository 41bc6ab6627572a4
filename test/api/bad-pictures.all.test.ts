import { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { validateFolder } from '#api/operator/read-folder.ts'
import type { Fault } from '#test/support/fake-github/faults.ts'
import type { AvatarKind } from '#test/support/fake-github/world.ts'
import { writeFolder } from '#test/support/operator-folder.ts'
import { hostilePictures, plainPicture } from '#test/support/pictures.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture } from './support/pictures.ts'

/*
 * Every bad picture, by name: bytes, servers that send them, and what manifests declare. Each is 404 or null, and nothing is fetched where it must
 * not be. What becomes of a server that stalls, and of URLs that lead elsewhere, is in `test/unit/infra/avatars.test.ts`; what becomes of
 * clips, in `test/unit/api/operator/media-format.test.ts`.
 */

const OPEN = { LICENSE: 'MIT', 'package.json': '{"license":"MIT"}\n' }
const BYTES = Object.entries(await hostilePictures()).map(([name, bytes], index) => ({ name, bytes, index }))
const PNG = await plainPicture('png', 40, 20)
/** Its frame has no fault, and publishing decodes nothing. */
const TOLD_BY_PIXELS = 'a PNG whose pixels are damaged'

interface BadServer {
  name: string
  avatar?: AvatarKind
  fault?: Fault
}

const SERVERS: readonly BadServer[] = [
  { name: 'redirects to another place', avatar: 'redirect' },
  ...[301, 302, 303, 307, 308].map(status => ({
    name: `redirects to this machine by ${status}`,
    fault: { status, headers: { location: 'http://127.0.0.1:9/' } },
  })),
  { name: 'redirects to the metadata of a cloud', fault: { redirect: 'http://169.254.169.254/latest/meta-data' } },
  { name: 'redirects to a file', fault: { status: 302, headers: { location: 'file:///etc/passwd' } } },
  { name: 'never ends', fault: { endless: true } },
  { name: 'sends more than is taken', avatar: 'huge' },
  { name: 'breaks off in the middle', fault: { cutAfterBytes: 60 } },
  { name: 'breaks off at once', fault: { reset: true } },
  { name: 'fails', fault: { status: 500 } },
  { name: 'has none', avatar: 'missing' },
  { name: 'says PNG, and sends HTML', avatar: 'html' },
  { name: 'says PNG, and sends an SVG', fault: { status: 200, headers: { 'content-type': 'image/png' }, body: '<svg/>' } },
  { name: 'says SVG, and sends one', avatar: 'svg' },
  {
    name: 'sends a picture, but says that there is none',
    fault: { status: 404, headers: { 'content-type': 'image/png' }, body: PNG },
  },
]

/** What manifests may declare. The picture in the API is null, or the URL as it is written: browsers load it, this service does not. */
const DECLARED: readonly (readonly [name: string, image: string])[] = [
  ['http:', 'http://example.org/a.png'],
  ['http: of this machine', 'http://127.0.0.1:9/a.png'],
  ['http: of the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/a.png'],
  ['https: of another host', 'https://example.org/a.png'],
  ['https: of this machine', 'https://127.0.0.1:9/a.png'],
  ['https: of this machine as a number', 'https://2130706433/a.png'],
  ['https: of this machine in IPv6', 'https://[::ffff:127.0.0.1]/a.png'],
  ['https: of a private network', 'https://192.168.1.1/a.png'],
  ['https: of the metadata of a cloud', 'https://169.254.169.254/a.png'],
  ['https: of this service', 'https://mountglass.test/icon/gh/acme/tools.png'],
  ['https: in capitals', 'HTTPS://example.org/a.png'],
  ['https: without a host', 'https://'],
  ['data:', 'data:image/png;base64,iVBORw0KGgo=.png'],
  ['javascript:', 'javascript:alert(1)//.png'],
  ['javascript: in capitals', 'JavaScript:alert(1)//.png'],
  ['vbscript:', 'vbscript:msgbox(1)//.png'],
  ['blob:', 'blob:https://example.org/a.png'],
  ['file:', 'file:///etc/a.png'],
  ['ftp:', 'ftp://example.org/a.png'],
  ['a URL without a scheme', '//example.org/a.png'],
  ['a path that leaves the repository', '../../../outside.png'],
  ['a path that leaves the repository and comes back', '../../../bad/declared/p.png'],
  ['a path with an escape', '%2e%2e/p.png'],
  ['a path with backslashes', '..\\p.png'],
  ['a path of this machine', '/etc/hostname.png'],
  ['a link to a picture', '../link.png'],
  ['a link out of the repository', '../out.png'],
  ['a submodule', '../module.png'],
  ['a folder', '../folder.png'],
  ['a file of Git', '../.git/a.png'],
  ['a file that is not there', 'nothing.png'],
  ['a file that no name of a picture has', '../LICENSE'],
  ['an SVG', '../a.svg'],
]

let at: TestApp
/** Ports to which this process opened connections. */
const connections: string[] = []

beforeAll(async () => {
  const owners = [...SERVERS.map((_, index) => `server-${index}`), ...BYTES.map(({ index }) => `bytes-${index}`)]
  const manifest = (image: string) => `---\nname: N\ndescription: D.\nimage: '${image}'\n---\n`
  const bytes = BYTES.flatMap(({ bytes, index }) => [
    [`b${index}/SKILLSET.md`, manifest('p.png')],
    [`b${index}/p.png`, bytes],
  ])
  const declared = DECLARED.map(([, image], index) => [`d${index}/SKILLSET.md`, manifest(image)])
  at = await testApp(
    {
      ...Object.fromEntries(owners.map(owner => [`${owner}/tools`, OPEN])),
      'other/tools': OPEN,
      'bad/bytes': { ...OPEN, ...Object.fromEntries(bytes) },
      'bad/declared': {
        ...OPEN,
        'p.png': PNG,
        'a.svg': '<svg/>',
        'link.png': { link: 'p.png' },
        'out.png': { link: '../../../etc/hostname' },
        'module.png': { submodule: 'a'.repeat(40) },
        'folder.png/p.png': PNG,
        ...Object.fromEntries(declared),
      },
    },
    { github: { withToken: true } },
  )
  await at.open('/local/bad/bytes')
  await at.open('/local/bad/declared')
  const { connect } = Socket.prototype
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...to: Parameters<typeof connect>) {
    const [place] = [to[0]].flat() as { port?: unknown }[]
    connections.push(String(place?.port))
    return Reflect.apply(connect, this, to)
  } as typeof connect)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await at.close()
})
afterEach(() => at.github.faults.clear())

/** The owner has the avatar that the faults send from here on. */
async function expectNoIcon(owner: string): Promise<void> {
  // Questions about unknown names have their share of the quota.
  at.advanceClock(3_600)
  const asked = () => at.github.log.all.filter(({ host }) => host === 'avatars').length
  const before = asked()
  await expectNoPicture(at, `/icon/gh/${owner}/tools`)
  expect(asked(), 'questions for the picture').toBe(before + 1)
}

describe('a picture server that', () => {
  test.each(SERVERS.map((server, index) => ({ ...server, index })))('$name: 404, and it is asked once', async server => {
    const owner = `server-${server.index}`
    const account = await at.github.world.account(owner)
    if (account && server.avatar) account.avatar = server.avatar
    if (server.fault) at.github.faults.add({ match: { host: 'avatars' }, times: 9, ...server.fault })
    const start = at.github.log.all.filter(({ path }) => path === '/').length
    await expectNoIcon(owner)
    // Redirects lead to the start page, or to nowhere: neither is asked.
    expect(at.github.log.all.filter(({ path }) => path === '/')).toHaveLength(start)
    const own = Object.values(at.github.origins).map(origin => new URL(origin).port)
    expect(connections.filter(port => !own.includes(port))).toEqual([])
  })

  test('is not the one of the host is not asked at all', async () => {
    const elsewhere = vi.spyOn(at.github.origins, 'avatars', 'get').mockReturnValue('http://127.0.0.1:9')
    connections.length = 0
    await expectNoPicture(at, '/icon/gh/other/tools')
    expect(connections).not.toContain('9')
    elsewhere.mockRestore()
  })
})

describe('bytes of a picture that are', () => {
  test.each(BYTES)('$name: no icon, no picture of an address, and nothing to publish', async ({ name, bytes, index }) => {
    const headers = { 'content-type': 'image/png' }
    at.github.faults.add({ match: { host: 'avatars' }, status: 200, headers, body: bytes, times: 9 })
    await expectNoIcon(`bytes-${index}`)
    await expectNoPicture(at, `/picture/local/bad/bytes/b${index}`)
    if (name === TOLD_BY_PIXELS) return
    const folder = await writeFolder({ 'featured.yaml': '- address: /local/acme/a\n  image: p.png\n', 'p.png': bytes })
    expect(await validateFolder(folder)).toEqual({
      faults: [expect.stringMatching(/featured\.yaml:2: image: p\.png (?:is|has) /)],
    })
  })
})

describe('a manifest that declares', () => {
  test.each(DECLARED.map(([name, image], index) => ({ name, image, index })))('$name: $image', async ({ image, index }) => {
    const address = `/local/bad/declared/d${index}`
    connections.length = 0
    const mount = await at.ask('mounts', address)
    const isWritten = /^https:\/\/./i.test(image)
    expect(mount.image).toBe(isWritten ? image : null)
    expect(mount.index).toMatchObject({ diagnostics: isWritten ? [] : [{ severity: 'warning', field: 'image' }] })
    await expectNoPicture(at, `/picture${address}`)
    expect(connections).toEqual([])
  })
})
