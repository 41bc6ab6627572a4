import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#api/app.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { RETENTION_DAYS } from '#core/limits.ts'
import { sweepStore } from '#indexer/sweep/sweep.ts'
import type { Answer } from '#test/support/check-answer.ts'
import { BASE_URL, endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const ADDRESS = '/local/acme/tools'
const DAY = 86_400

let app: TestApp
beforeEach(async () => {
  app = await testApp({
    'acme/tools': {
      LICENSE: MIT,
      'skills/a/SKILL.md': skillText('a', 'Do it.\n'),
      'skills/b/SKILL.md': skillText('b', 'Do that.\n'),
      'docs/c.md': '# C\n',
    },
  })
  onTestFinished(() => app.close())
  await app.open(ADDRESS)
})

async function sweep() {
  return await sweepStore({ blobs: app.blobs, states: app.states }, app.deps.clock, {
    days: RETENTION_DAYS.default,
    remove: true,
    signal: new AbortController().signal,
    onFailure(_, error) {
      throw error
    },
  })
}

/** The retention passes, and a day more: a sweep removes the header, and the next one the packs. */
async function removeSnapshot(): Promise<void> {
  app.advanceClock((RETENTION_DAYS.default + 1) * DAY)
  expect(await sweep()).toMatchObject({ snapshots: { expired: 1 }, packs: 0 })
  app.advanceClock(DAY)
  expect((await sweep()).packs).toBeGreaterThan(0)
  expect(await app.blobs.list('pub/')).toEqual([])
}

const refs = () => ['', '@main', `@${app.commitOf('acme/tools')}`]

test('a snapshot that was read until then is removed, and the next request has it indexed again', async () => {
  const before = await Promise.all(refs().map(async ref => (await app.get(`/api/v1/browse${ADDRESS}${ref}`)).json))
  expect(before.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready'])
  await removeSnapshot()
  // Another process has not cached anything.
  const other = await buildApp({ ...app.deps, snapshots: createSnapshotReader(app.blobs) }, { baseUrl: BASE_URL })
  onTestFinished(() => other.close())
  const ask = async (ref: string) => (await other.inject(`/api/v1/browse${ADDRESS}${ref}`)).json()
  for (const ref of refs()) expect(await ask(ref)).toEqual({ status: 'indexing', commit: app.commitOf('acme/tools') })
  expect(await app.index()).toBe(1)
  for (const [at, ref] of refs().entries()) expect(await ask(ref)).toEqual(before[at])
})

describe('a process that holds the header of a snapshot', () => {
  const isIndexing = ({ json }: Answer) => json.status ?? json.index?.status ?? json.items?.[0]?.index.status ?? json.error.code

  test('answers from it while its packs are there', async () => {
    app.advanceClock((RETENTION_DAYS.default + 1) * DAY)
    await app.get(`/api/v1/mounts${ADDRESS}`)
    await sweep()
    app.advanceClock(DAY - 1)
    await sweep()
    expect((await app.get(`/api/v1/files${ADDRESS}?path=docs/c.md`)).json.content).toBe('# C\n')
  })

  test.each<[what: string, urlOf: () => string, state: string]>([
    ['browse', () => `/api/v1/browse${ADDRESS}`, 'indexing'],
    ['find', () => `/api/v1/find${ADDRESS}?query=do`, 'indexing'],
    ['skills', () => `/api/v1/skills${ADDRESS}?path=skills/a/SKILL.md`, 'indexing'],
    ['files', () => `/api/v1/files${ADDRESS}?path=docs/c.md`, 'index.indexing'],
    ['history', () => `/api/v1/history${ADDRESS}?path=skills/a/SKILL.md`, 'indexing'],
    ['a raw file', () => `/git${ADDRESS}/raw/${app.commitOf('acme/tools')}/docs/c.md`, 'index.indexing'],
  ])('says that it is indexed again once %s needs a pack that was removed, and then answers', async (_, urlOf, state) => {
    await app.get(`/api/v1/mounts${ADDRESS}`)
    await removeSnapshot()
    const url = urlOf()
    expect(isIndexing(await app.get(url))).toBe(state)
    expect(isIndexing(await app.get(url))).toBe(state)
    expect(await app.index()).toBe(1)
    const { status, json } = await app.get(url)
    expect([status, json?.status ?? 'ready']).toEqual([200, 'ready'])
  })

  test('goes on with the cursor of a list', async () => {
    const first = await app.askReady('browse', ADDRESS, { limit: 1 })
    const query = { limit: 1, cursor: first.nextCursor ?? '' }
    const second = await app.askReady('browse', ADDRESS, query)
    expect(second.entries).not.toEqual(first.entries)
    await removeSnapshot()
    const other = await buildApp({ ...app.deps, snapshots: createSnapshotReader(app.blobs) }, { baseUrl: BASE_URL })
    onTestFinished(() => other.close())
    const ask = async () => (await other.inject(endpointUrl('browse', ADDRESS, query))).json()
    expect((await ask()).status).toBe('indexing')
    await app.index()
    expect(await ask()).toEqual(second)
  })
})
