import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseInfraSettings } from '#infra/infra-settings.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PKCS8 = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
const PKCS1 = String(privateKey.export({ type: 'pkcs1', format: 'pem' }))
const APP = {
  MOUNTGLASS_GITHUB_APP_ID: '17',
  MOUNTGLASS_GITHUB_APP_CLIENT_ID: 'Iv23li0',
  MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: 'hush',
}
const appOf = (env: Record<string, string>) => parseInfraSettings(env).github?.app

test('without an App sign-in is off', () => {
  expect(appOf({})).toBeNull()
  expect(appOf({ MOUNTGLASS_GITHUB_APP_SLUG: 'reader' })).toBeNull()
})

test('the key is a PEM of either form, with real or escaped line breaks, or in a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-key-'))
  await writeFile(join(folder, 'app.pem'), PKCS1)
  for (const key of [PKCS8, PKCS1, PKCS8.replaceAll('\n', '\\n'), `file:${join(folder, 'app.pem')}`])
    expect(appOf({ ...APP, MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: key })).toEqual({
      id: '17',
      clientId: 'Iv23li0',
      clientSecret: 'hush',
      privateKey: PKCS8,
      slug: null,
    })
  await rm(folder, { recursive: true })
})

test('an incomplete App, or an invalid key, prevents the start, and no message quotes the key', () => {
  expect(() => appOf(APP)).toThrow('MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: must be set')
  for (const name of Object.keys(APP))
    expect(() => appOf({ ...APP, MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: PKCS8, [name]: '' })).toThrow(`${name}: must be set`)
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  for (const key of ['no-key', String(ec), PKCS8.slice(0, 400)]) {
    const parse = () => appOf({ ...APP, MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: key })
    expect(parse).toThrow('MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: must be the RSA key')
    expect(parse).not.toThrow(key)
  }
  expect(() => appOf({ ...APP, MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: 'file:/nonexistent/app.pem' })).toThrow('ENOENT')
})
