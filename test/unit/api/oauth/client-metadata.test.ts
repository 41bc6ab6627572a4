import { expect, test } from 'vitest'
import { parseClientMetadata } from '#api/oauth/clients.ts'

const REDIRECTS = { redirect_uris: ['https://app.example/back'] }

test.each([
  ['https://app.example/about', 'https://app.example/about'],
  [`https://app.example/${'a'.repeat(600)}`, null],
  // Encoded, it is several times as long.
  [`https://app.example/${'漢'.repeat(300)}`, null],
  ['javascript:alert(1)', null],
  ['https://user:secret@app.example/', null],
])('the home page %s of an app is read as %j', (client_uri, told) => {
  expect(parseClientMetadata({ ...REDIRECTS, client_uri }).uri).toBe(told)
})
