import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AvatarKind } from '#test/support/fake-github/world.ts'
import { hostilePictures, plainPicture } from '#test/support/pictures.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture, expectPicture, getPicture } from './support/pictures.ts'

const FILES = { LICENSE: 'MIT' }
const ICON = { cache: 'public, max-age=86400', etag: /^"gh-\d+-128-[0-9a-f]{16}"$/ }

let at: TestApp
let turn = 0
beforeAll(async () => {
  at = await testApp(
    { 'acme/tools': FILES, 'acme/hidden': FILES, 'acme/denied': FILES, 'other/tools': FILES },
    {
      github: { withToken: true },
      deps: deps => ({ ...deps, deny: [({ repository }) => repository === 'denied'] }),
    },
  )
  await at.github.shown('acme', 'hidden', { visibility: 'private' })
})
afterAll(() => at.close())

/** Accounts of their own, since pictures are kept. */
let owner = ''
beforeEach(async () => {
  owner = `owner-${++turn}`
  // Questions about unknown names have their share of the quota.
  at.advanceClock(3_600)
  const repository = await at.repositories.create(owner, 'tools')
  await repository.commit(FILES)
})

async function shows(avatar: AvatarKind): Promise<void> {
  const account = await at.github.world.account(owner)
  if (account === null) throw new Error(`there is no account ${owner}`)
  account.avatar = avatar
}

const served = (body: Buffer, type = 'image/png') =>
  at.github.faults.add({ match: { host: 'avatars' }, status: 200, headers: { 'content-type': type }, body, times: 99 })
const avatarsAsked = () => at.github.log.all.filter(({ host }) => host === 'avatars')

describe('the icon of an address', () => {
  test("is the owner's picture, asked for without credentials, 128 pixels square and kept for a day", async () => {
    const { bytes } = await expectPicture(at, `/icon/gh/${owner}/tools`, { ...ICON, type: 'image/png' })
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 128, height: 128 })
    for (const { headers } of avatarsAsked()) {
      expect(headers).not.toHaveProperty('authorization')
      expect(headers).not.toHaveProperty('cookie')
    }
    const before = avatarsAsked().length
    expect((await getPicture(at, `/icon/gh/${owner}/tools@main`)).status).toBe(200)
    expect(avatarsAsked()).toHaveLength(before)
  })

  test.each(['png', 'jpeg', 'gif', 'webp'] as const)('has the type that its bytes say: %s', async format => {
    served(await plainPicture(format, 300, 200), 'text/html')
    const { bytes } = await expectPicture(at, `/icon/gh/${owner}/tools`, { ...ICON, type: `image/${format}` })
    expect(await sharp(bytes).metadata()).toMatchObject({ format, width: 128, height: 128 })
    at.github.faults.clear()
  })

  test('is not there for repositories of the host local', async () => {
    await expectNoPicture(at, '/icon/local/acme/tools')
  })

  test('is not there for what is no address, hidden, not served or missing', async () => {
    for (const address of [
      '/',
      '/gh',
      '/gh/acme',
      '/gh/acme/nothing',
      '/gh/acme/hidden',
      '/gh/acme/denied',
      '/gh/acme/tools@nothing',
      '/gh/a%zz/b',
    ])
      await expectNoPicture(at, `/icon${address}`)
  })
})

describe('a picture server', () => {
  test.each(['svg', 'html', 'huge', 'redirect', 'missing'] as const)('that answers %s has no icon', async kind => {
    await shows(kind)
    const asked = at.github.log.all.filter(({ path }) => path === '/').length
    await expectNoPicture(at, `/icon/gh/${owner}/tools`)
    // The redirect leads to the start page.
    expect(at.github.log.all.filter(({ path }) => path === '/')).toHaveLength(asked)
  })

  test('that breaks off, fails or never ends has no icon', async () => {
    const faults = [{ cutAfterBytes: 60 }, { status: 500 }, { reset: true }, { endless: true }] as const
    for (const [index, fault] of faults.entries()) {
      const name = `${owner}-${index}`
      await (await at.repositories.create(name, 'tools')).commit(FILES)
      at.github.faults.add({ match: { host: 'avatars' }, times: 9, ...fault })
      await expectNoPicture(at, `/icon/gh/${name}/tools`)
      at.github.faults.clear()
    }
  })

  test('is asked again a minute after it failed', async () => {
    await shows('missing')
    await expectNoPicture(at, `/icon/gh/${owner}/tools`)
    const asked = avatarsAsked().length
    await expectNoPicture(at, `/icon/gh/${owner}/tools`)
    expect(avatarsAsked()).toHaveLength(asked)
  })
})

describe('bytes that are no picture to be shown', async () => {
  test.each(Object.entries(await hostilePictures()))('%s', async (_name, bytes) => {
    served(bytes)
    await expectNoPicture(at, `/icon/gh/${owner}/tools`)
    at.github.faults.clear()
  })
})

test('the picture of another origin than the host names is not asked for', async () => {
  const account = await at.github.world.account(owner)
  if (account === null) throw new Error('no account')
  Object.defineProperty(at.github.origins, 'avatars', { value: 'http://127.0.0.1:9', configurable: true })
  await expectNoPicture(at, `/icon/gh/${owner}/tools`)
})
