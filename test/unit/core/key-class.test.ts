import { expect, test } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import * as keys from '#core/snapshot/store-keys.ts'
import { isPrivateKey, privateShare } from '#core/snapshot/store-keys.ts'
import { jobOf } from '#test/support/store-values.ts'

const { repository, commit } = jobOf(1)
const keysOf = (one: HostRepository) => [
  keys.headerKey(one, commit),
  keys.packKey(one, 'a'.repeat(40)),
  keys.jobKey(one, commit),
  keys.lastIndexedKey(one),
  keys.queueKey(one, commit),
  keys.headersPrefix(one),
  keys.damageKey(one, commit),
  keys.hiddenKey(one),
]

test('every key of a private repository is private, and so are the keys beside it', () => {
  for (const key of keysOf({ ...repository, visibility: 'private' })) {
    expect(isPrivateKey(key), key).toBe(true)
    expect(privateShare(key.slice(0, key.lastIndexOf('/') + 1)), key).toBe('all')
  }
})

test('every key of a person, a grant and a spent code is private', () => {
  const id = '0123456789abcdef01234567'
  for (const key of [keys.personKey(id), keys.grantKey(id, id), keys.spentKey(id)]) {
    expect(isPrivateKey(key), key).toBe(true)
    expect(privateShare(key.slice(0, key.lastIndexOf('/') + 1)), key).toBe('all')
    expect(keys.splitKey(key), key).toBeNull()
  }
})

test('keys of a probe have the probed class, and a sweep lists them', () => {
  const probes = [false, true].map(isPrivate => keys.probeKeys('id', isPrivate))
  for (const [index, { blob, entry }] of probes.entries()) {
    expect([isPrivateKey(blob), isPrivateKey(entry)]).toEqual([index === 1, index === 1])
    expect([keys.splitKey(blob), keys.splitKey(entry)]).toEqual([null, null])
    expect([keys.PROBE_PREFIXES[index], keys.PROBE_ENTRY_PREFIXES[index]]).toEqual([blob.slice(0, -2), entry.slice(0, -2)])
  }
})

test('no key of a public repository is private, nor one without a repository', () => {
  const others = [
    keys.ownerListingKey('prv', repository.id),
    keys.SWEEP_LEASE_KEY,
    'probe/a',
    'prv',
    'ctl/prv',
    'prvx/a',
    'ctl/job/prvx/a',
  ]
  for (const key of [...keysOf(repository), ...others]) expect(isPrivateKey(key), key).toBe(false)
})

test.each(['', 'p', 'prv', 'ctl', 'ctl/', 'ctl/queue', keys.QUEUE_PREFIX, 'ctl/queue/prv'])(
  'keys of both kinds may begin with %j',
  prefix => {
    expect(privateShare(prefix)).toBe('some')
  },
)

test.each([
  ['prv/', 'all'],
  ['ctl/queue/prv/', 'all'],
  ['pub/', 'none'],
  ['ctl/queue/pub/0', 'none'],
  [`${keys.OWNERS_PREFIX}0a1/`, 'none'],
])('of the keys that begin with %j, %s are private', (prefix, share) => {
  expect(privateShare(prefix)).toBe(share)
})
