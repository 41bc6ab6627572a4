import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { plainPicture } from '#test/support/pictures.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture, shownPicture } from './support/pictures.ts'

const FILES = { LICENSE: 'MIT' }

let at: TestApp
let turn = 0
beforeAll(async () => {
  at = await testApp({}, { github: { withToken: true } })
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

const served = (body: Buffer, type = 'image/png') =>
  at.github.faults.add({ match: { host: 'avatars' }, status: 200, headers: { 'content-type': type }, body, times: 99 })
const avatarsAsked = () => at.github.log.all.filter(({ host }) => host === 'avatars')

describe('the icon of an address', () => {
  test("is the owner's picture, asked for without credentials, 128 pixels square and kept", async () => {
    const { bytes } = await shownPicture(at, `/icon/gh/${owner}/tools`)
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 128, height: 128 })
    for (const { headers } of avatarsAsked()) {
      expect(headers).not.toHaveProperty('authorization')
      expect(headers).not.toHaveProperty('cookie')
    }
    const before = avatarsAsked().length
    await shownPicture(at, `/icon/gh/${owner}/tools@main`)
    expect(avatarsAsked()).toHaveLength(before)
  })

  test.each(['png', 'jpeg', 'gif', 'webp'] as const)('has the media type of its bytes: %s', async format => {
    served(await plainPicture(format, 300, 200), 'text/html')
    const { bytes, headers } = await shownPicture(at, `/icon/gh/${owner}/tools`)
    expect(headers['content-type']).toBe(`image/${format}`)
    expect(await sharp(bytes).metadata()).toMatchObject({ format, width: 128, height: 128 })
    at.github.faults.clear()
  })

  test('that could not be fetched is not fetched again at once', async () => {
    const account = await at.github.world.account(owner)
    if (account) account.avatar = 'missing'
    await expectNoPicture(at, `/icon/gh/${owner}/tools`)
    const asked = avatarsAsked().length
    await expectNoPicture(at, `/icon/gh/${owner}/tools`)
    expect(avatarsAsked()).toHaveLength(asked)
  })
})
