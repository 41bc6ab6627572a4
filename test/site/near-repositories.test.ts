import { expect, test } from 'vitest'
import { formatAddress, parseAddress } from '#core/address.ts'
import { findNearRepositories } from '#site/lib/not-found.ts'

const near = (served: readonly string[], address: string) =>
  findNearRepositories(served, parseAddress(address, ['local'])).map(formatAddress)

test('repositories with a similar name are found at every owner, and no others', () => {
  const served = ['/local/acme/handbook', '/local/other/hand-book', '/local/acme/tools']
  expect(near(served, '/local/acme/handbok').sort()).toEqual(['/local/acme/handbook', '/local/other/hand-book'])
})

test('a name of a letter or two is no part of another', () => {
  expect(near(['/local/acme/handbook', '/local/acme/b2'], '/local/acme/b')).toEqual([])
})

test('of a name that very many owners use, a few are shown', () => {
  const served = Array.from({ length: 400 }, (_, index) => `/local/owner-${index}/handbook`)
  expect(near(served, '/local/acme/handbok')).toHaveLength(5)
})
