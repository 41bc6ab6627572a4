import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from '../support/people-scene.ts'
import { openPeopleSite, type PeopleSite } from './support/people-site.ts'

let site: PeopleSite
let ada: Browser
beforeAll(async () => {
  site = await openPeopleSite()
  ada = await site.signIn(site.ada)
})
afterAll(() => site.close())

const ID = '0'.repeat(24)
const SITES = ['same-origin', 'same-site', 'cross-site', 'none', '', 'SAME-ORIGIN', undefined]

test.each([
  ['/account/tokens', { address: '', label: '', days: '' }],
  [`/account/tokens/${ID}/delete`, {}],
  [`/account/grants/${ID}/delete`, {}],
  [`/account/sessions/${ID}/end`, {}],
  ['/oauth/consent', { request: 'x', decision: 'approve' }],
])('v5.0.0-3.5.1: the form that is sent to %s is for pages of this deployment', async (path, fields) => {
  for (const from of SITES) {
    for (const origin of [site.origin, `${site.origin}/`, 'http://127.0.0.1', 'https://evil.example', 'null', '', undefined]) {
      const isSame = from === undefined || from === 'same-origin'
      const isOwn = isSame && (origin === undefined || origin === site.origin) && !(from === undefined && origin === undefined)
      const { status } = await ada.submit(path, fields, { 'sec-fetch-site': from, origin })
      expect([from, origin, status]).toEqual([from, origin, isOwn ? 303 : 403])
    }
  }
})
