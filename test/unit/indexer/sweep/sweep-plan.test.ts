import { describe, expect, test } from 'vitest'
import type { JobEntry } from '#core/snapshot/index-state.ts'
import { VERSIONS } from '#core/snapshot/store-keys.ts'
import {
  type HeaderEntry,
  isLaterVersion,
  isOlderVersion,
  planRepository,
  type RepositoryState,
  type StoredHeader,
  type UnusedPack,
} from '#indexer/sweep/sweep-plan.ts'

const NOW = new Date('2026-06-30T12:00:00.000Z')
const DAYS = 90
const OLDER = 'r0f1s1'
const LATER = 'r999f999s999'

const ago = (days: number, hours = 0) => new Date(NOW.getTime() - (days * 24 + hours) * 3_600_000)
const commitOf = (letter: string) => letter.repeat(40)
const packs = (...names: string[]) => new Set(names)

const EMPTY: RepositoryState = {
  headers: [],
  headerEntries: [],
  jobs: [],
  packs: new Set(),
  missingPacks: new Set(),
  unusedPacks: new Map(),
  hidden: null,
}

function header(letter: string, rest: Partial<StoredHeader> & { versions?: string; packs?: string[] } = {}): StoredHeader {
  const { versions = VERSIONS, packs = [], ...changes } = rest
  return {
    key: `c/${letter}`,
    name: { commit: commitOf(letter), versions },
    sizeBytes: 10,
    createdAt: ago(200),
    content: packs.map(name => ({ name, sizeBytes: 100 })),
    ...changes,
  }
}

const plan = (state: Partial<RepositoryState>, days = DAYS) => planRepository({ ...EMPTY, ...state }, NOW, days)
const reasons = (state: Partial<RepositoryState>, days?: number) =>
  Object.fromEntries(plan(state, days).headers.map(({ header, reason }) => [header.key.slice(2), reason]))

describe('a snapshot', () => {
  test.each<[string, Partial<RepositoryState>, Record<string, string>]>([
    ['that was written more than 90 days ago is removed', { headers: [header('a', { createdAt: ago(91) })] }, { a: 'expired' }],
    ['that was written within 90 days stays', { headers: [header('a', { createdAt: ago(89) })] }, {}],
    ['whose clock is ahead stays', { headers: [header('a', { createdAt: ago(-3) })] }, {}],
    [
      'that is damaged is removed at any age',
      { headers: [header('a', { createdAt: NOW, content: 'damaged' })] },
      { a: 'damaged' },
    ],
    [
      'with missing packs is removed, to be built again',
      {
        headers: [header('a', { createdAt: ago(1), packs: ['p', 'q'] }), header('b', { createdAt: ago(1), packs: ['p'] })],
        packs: new Set(['p']),
        missingPacks: new Set(['q']),
      },
      { a: 'incomplete' },
    ],
    [
      'that is being published stays: its job checks its packs',
      { headers: [header('a', { createdAt: ago(0, 0.5), packs: ['q'] })], missingPacks: new Set(['q']) },
      {},
    ],
  ])('%s', (_, state, expected) => {
    expect(reasons(state)).toEqual(expected)
  })

  test('is removed after the given number of days', () => {
    const headers = [header('a', { createdAt: ago(20) })]
    expect(reasons({ headers }, 21)).toEqual({})
    expect(reasons({ headers }, 19)).toEqual({ a: 'expired' })
  })

  test('of an earlier version is removed when this version indexed its repository a week ago, and it was not written since', () => {
    const older = (days: number) => header('a', { versions: OLDER, createdAt: ago(days) })
    const ours = (days: number, versions = VERSIONS) => header('b', { versions, createdAt: ago(days) })
    expect(reasons({ headers: [older(60), ours(8)] })).toEqual({ a: 'outdated' })
    expect(reasons({ headers: [older(60), ours(8, LATER)] })).toEqual({ a: 'outdated' })
    expect(reasons({ headers: [older(60), ours(6)] })).toEqual({})
    expect(reasons({ headers: [older(6), ours(8)] })).toEqual({})
  })

  test('of an earlier version is removed by age as every other one, if this version has not indexed its repository', () => {
    const older = (days: number) => ({ headers: [header('a', { versions: OLDER, createdAt: ago(days) })] })
    expect(reasons(older(89))).toEqual({})
    expect(reasons(older(91))).toEqual({ a: 'expired' })
    expect(reasons(older(4), 3)).toEqual({ a: 'expired' })
  })
})

test.each([
  [VERSIONS, false, false],
  [OLDER, true, false],
  [LATER, false, true],
  ['r0f999s0', false, true],
  ['other', false, true],
  ['', false, true],
])('%j is earlier: %s, later: %s', (versions, isOlder, isLater) => {
  expect([isOlderVersion(versions), isLaterVersion(versions)]).toEqual([isOlder, isLater])
})

describe('entries of a snapshot', () => {
  const beside = (letter: string, versions = VERSIONS): HeaderEntry => {
    return { key: `${letter} ${versions}`, snapshot: { commit: commitOf(letter), versions } }
  }

  test('are removed with it, or if there is none', () => {
    const headers = [header('a'), header('b', { createdAt: NOW })]
    const { entries } = plan({
      headers,
      headerEntries: [beside('a'), beside('b'), beside('b', OLDER), beside('c'), { key: 'unreadable', snapshot: null }],
    })
    expect(entries).toEqual([`a ${VERSIONS}`, `b ${OLDER}`, `c ${VERSIONS}`, 'unreadable'])
  })
})

describe('the entry of a job', () => {
  const leased = (until: Date): JobEntry => ({
    state: 'leased',
    worker: 'w',
    fence: 1,
    until: until.toISOString(),
    failures: 0,
    crashes: 0,
  })
  const failed = (retryAt: Date): JobEntry => ({
    state: 'failed',
    errorCode: 'index.internal',
    fence: 1,
    failures: 3,
    retryAt: retryAt.toISOString(),
  })
  const released: JobEntry = { state: 'released', fence: 1, failures: 0, crashes: 0 }
  test.each<[string, JobEntry | null, boolean, boolean]>([
    ['of a running job stays', leased(ago(-1)), false, false],
    ['of a lease that ended yesterday is removed', leased(ago(1, 1)), false, true],
    ['of an ended lease stays while the job waits to be taken again', leased(ago(3)), true, false],
    ['of a failure stays for a day after the next try is due', failed(ago(0, 23)), false, false],
    ['of a failure is removed after that', failed(ago(1, 1)), false, true],
    ['of a job that was handed back and waits stays', released, true, false],
    ['of a job that was handed back and no longer waits is removed', released, false, true],
    ['that cannot be parsed is removed', null, false, true],
  ])('%s', (_, entry, isQueued, goes) => {
    expect(plan({ jobs: [{ key: 'job', entry, isQueued }] }).entries).toEqual(goes ? ['job'] : [])
  })
})

describe('packs that no header refers to', () => {
  const noted = (since: Date, sizeBytes: number | null = null): UnusedPack => ({ since, sizeBytes })

  test('are removed a day later if they are still unused, and the others are forgotten', () => {
    const { packs: due, unusedPacks } = plan({
      headers: [header('a', { createdAt: NOW, packs: ['used'] })],
      packs: packs('used', 'due', 'young', 'ahead'),
      unusedPacks: new Map([
        ['used', noted(ago(3))],
        ['due', noted(ago(1), 7)],
        ['young', noted(ago(0, 23))],
        ['ahead', noted(ago(-9))],
        ['gone', noted(ago(3))],
      ]),
    })
    expect(due).toEqual([{ name: 'due', sizeBytes: 7 }])
    expect([...unusedPacks]).toEqual([
      ['young', noted(ago(0, 23))],
      ['ahead', noted(NOW)],
    ])
  })

  test('are written down in parts when there are many, those that were before first', () => {
    const many = Array.from({ length: 3_000 }, (_, number) => `pack-${number}`)
    const before = new Map([['pack-2999', noted(ago(0, 1))]])
    const { unusedPacks } = plan({ packs: packs(...many), unusedPacks: before })
    expect(unusedPacks.size).toBe(2_000)
    expect(unusedPacks.get('pack-2999')).toEqual(noted(ago(0, 1)))
  })
})

describe('a repository that the host does not show', () => {
  const hidden = (since: Date | null) => ({ key: 'hidden', since })
  const young = { createdAt: ago(5) }
  const all = {
    headers: [header('a', young), header('b', { ...young, versions: LATER })],
    headerEntries: [{ key: 'mark', snapshot: { commit: commitOf('a'), versions: VERSIONS } }],
  }

  test('keeps nothing after two days', () => {
    const { headers, entries, hiddenEntry } = plan({ ...all, hidden: hidden(ago(2, 1)) })
    expect(headers.map(({ reason }) => reason)).toEqual(['hidden', 'hidden'])
    expect([entries, hiddenEntry]).toEqual([['mark'], 'hidden'])
  })

  test('keeps everything until then', () => {
    const { headers, entries, hiddenEntry } = plan({ ...all, hidden: hidden(ago(1, 23)) })
    expect([headers, entries, hiddenEntry]).toEqual([[], [], null])
  })

  test.each<[string, Partial<RepositoryState>]>([
    ['it was indexed since', { ...all, headers: [header('a', { createdAt: ago(2) })] }],
    ['its date is unknown', { ...all, hidden: hidden(null) }],
  ])('is shown again when %s', (_, state) => {
    const { headers, hiddenEntry } = plan({ hidden: hidden(ago(2, 2)), ...state })
    expect([headers, hiddenEntry]).toEqual([[], 'hidden'])
  })

  test('is hidden even if a running job published', () => {
    const headers = [header('a', { createdAt: ago(2, 1.5) })]
    expect(reasons({ headers, hidden: hidden(ago(2, 2)) })).toEqual({ a: 'hidden' })
  })
})
