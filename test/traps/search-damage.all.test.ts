/*
 * What find answers over a store whose bytes changed: what it answered before, or that it cannot be read now. Never anything else.
 */
import { mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { encodeHeader, type SnapshotHeader } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { answered } from '#test/support/answered.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'
import { testApp } from '#test/support/test-app.ts'
import { HANDBOOK, LIBRARY_QUERIES, PRIVATE, SMALL_QUERIES } from './damaged-content.ts'
import { app, askOthers, findAll, folder, forget, log, stored, useDamageScene } from './search-damage-scene.ts'

useDamageScene()

/** Where each pack, and each part of a section, is damaged. */
const PLACES = 32

const UNAVAILABLE = { status: 503, body: { error: { code: 'skill.unavailable', message: expect.any(String) } } }

test('the library is too large to be read whole, and lies in two packs', async () => {
  const segments = (await stored('library')).header.search?.segments ?? []
  expect(segments.reduce((sum, [, , length]) => sum + length, 0)).toBeGreaterThan(1024 * 1024)
  expect(segments).toHaveLength(2)
})

describe.each([
  ['a section that is read whole', 'handbook', SMALL_QUERIES],
  ['a section that is read by range', 'library', LIBRARY_QUERIES],
] as const)('%s', (_kind, name, queries) => {
  test('changed anywhere: find is right or unavailable, everything else as before, and the log has the unreadable part once', async () => {
    const { header, packs } = await stored(name)
    const places = placesIn(header)
    const [finds, others] = [await findAll(name, queries), await askOthers(name)]
    let unavailable = 0
    let right = 0
    let found = 0
    log.length = 0
    for (const { pack, offset } of places) {
      const path = packs[pack] as string
      const whole = await readFile(path)
      const damaged = Buffer.from(whole)
      damaged[offset] = (damaged[offset] ?? 0) ^ 0x10
      await writeFile(path, damaged)
      forget()
      const answers = await findAll(name, queries)
      if (answers.some(({ status }) => status === 503)) found++
      for (const [at, answer] of answers.entries()) {
        if (answer.status === 503) unavailable++
        else right++
        expect({ offset, ...answer }).toEqual({ offset, ...(answer.status === 503 ? UNAVAILABLE : finds[at]) })
      }
      expect(await askOthers(name)).toEqual(others)
      await writeFile(path, whole)
    }
    expect(unavailable).toBeGreaterThan(places.length / 8)
    expect(right).toBeGreaterThanOrEqual(name === 'library' ? places.length : 0)
    if (name === 'handbook') expect(right).toBe(0)
    expect(log).toHaveLength(found)
    for (const line of log) {
      expect(JSON.parse(line)).toMatchObject({
        msg: 'damaged',
        err: { message: expect.stringMatching(/cannot read .*search section .*(?:damaged|cannot)/s) },
      })
      expect(line).not.toContain(PRIVATE)
    }
    forget()
    expect(await findAll(name, queries)).toEqual(finds)
  })

  test('read at once by many first visitors: each answer equals that of a single visitor', async () => {
    const finds = await findAll(name, queries)
    forget()
    const together = await Promise.all(Array.from({ length: 8 }, () => Promise.all(queries.map(query => findAll(name, [query])))))
    for (const answers of together) expect(answers.flat()).toEqual(finds)
  })

  test('in packs that are changed, cut short, empty, missing or swapped: every answer is right or unavailable', async () => {
    const { packs, sizes, header } = await stored(name)
    const [finds, others] = [await findAll(name, queries), await askOthers(name)]
    const isRightOrUnavailable = async () => {
      forget()
      for (const [at, answer] of (await findAll(name, queries)).entries())
        if (answer.status !== 503) expect(answer).toEqual(finds[at])
      for (const [at, answer] of (await askOthers(name)).entries()) if (answer.status !== 503) expect(answer).toEqual(others[at])
    }
    for (const [at, path] of packs.entries()) {
      const whole = await readFile(path)
      const size = sizes[at] as number
      for (let place = 0; place < PLACES; place++) {
        const damaged = Buffer.from(whole)
        const offset = Math.floor((place * size) / PLACES)
        damaged.fill(0xa5 ^ place, offset, offset + 1 + (place % 5))
        await writeFile(path, damaged)
        await isRightOrUnavailable()
      }
      for (const length of [0, 1, Math.floor(size / 3), Math.floor((2 * size) / 3), size - 1]) {
        await writeFile(path, whole)
        await truncate(path, length)
        await isRightOrUnavailable()
      }
      await rename(path, `${path}-aside`)
      await isRightOrUnavailable()
      if (header.search?.segments.at(-1)?.[0] === at) expect((await findAll(name, queries.slice(0, 1)))[0]).toEqual(UNAVAILABLE)
      await rename(`${path}-aside`, path)
      const other = (await stored('other')).packs[0] as string
      await writeFile(path, await readFile(other))
      await isRightOrUnavailable()
      await writeFile(path, Buffer.concat([whole.subarray(size / 2), whole.subarray(0, size / 2)]))
      await isRightOrUnavailable()
      await writeFile(path, whole)
    }
  })
})

test('two packs that changed places give no answer of the other', async () => {
  const [handbook, other] = [await stored('handbook'), await stored('other')]
  const finds = await findAll('handbook', SMALL_QUERIES)
  const [one, two] = [handbook.packs[0] as string, other.packs[0] as string]
  await rename(one, `${one}-aside`)
  await rename(two, one)
  await rename(`${one}-aside`, two)
  forget()
  for (const name of ['handbook', 'other'])
    for (const answer of await findAll(name, SMALL_QUERIES)) expect(answer).toEqual(UNAVAILABLE)
  await rename(one, `${one}-aside`)
  await rename(two, one)
  await rename(`${one}-aside`, two)
  forget()
  expect(await findAll('handbook', SMALL_QUERIES)).toEqual(finds)
})

test('a header with false facts of the section is unavailable, and nothing is indexed over it', async () => {
  const { header, headerPath } = await stored('handbook')
  const whole = await readFile(headerPath)
  const { search } = encodeHeader(header)
  if (search === null) throw new Error('there is no section')
  const [pack = 0, offset = 0, length = 0] = search.segments
  const lies: unknown[] = [
    { ...search, headBytes: search.headBytes - 1 },
    { ...search, headBytes: search.headBytes + 1 },
    { ...search, headBytes: length + 1 },
    { ...search, headBytes: 2 ** 50 },
    { ...search, headChecksum: search.headChecksum ^ 1 },
    { ...search, segments: [] },
    { ...search, segments: [pack, offset + 1, length] },
    { ...search, segments: [pack, offset, length - 1] },
    { ...search, segments: [pack, offset, length + 1] },
    { ...search, segments: [pack, offset, 2 ** 50] },
    { ...search, segments: [pack + 1, offset, length] },
    { ...search, segments: [...search.segments, ...search.segments] },
    { ...search, segments: [pack, -1, length] },
    { ...search, segments: [pack, offset] },
    { ...search, segments: [pack, offset, length, pack] },
    { ...search, segments: [pack, offset, length, pack, -1, 2] },
    { ...search, segments: 'all' },
    undefined,
    {},
  ]
  for (const lie of lies) {
    await writeFile(headerPath, gzipSync(JSON.stringify({ ...encodeHeader(header), search: lie })))
    forget()
    for (const answer of await findAll('handbook', SMALL_QUERIES)) expect({ lie, ...answer }).toEqual({ lie, ...UNAVAILABLE })
    expect(await app.index()).toBe(0)
  }
  for (let offset = 0; offset < whole.length; offset += Math.ceil(whole.length / 40)) {
    const damaged = Buffer.from(whole)
    damaged[offset] = (damaged[offset] ?? 0) ^ 0xff
    await writeFile(headerPath, damaged)
    forget()
    for (const { status } of await findAll('handbook', SMALL_QUERIES)) expect([200, 503]).toContain(status)
  }
  await writeFile(headerPath, whole)
  forget()
})

test('the next commit is indexed from scratch if the section of the one before is damaged, cut short or missing', async () => {
  const repository = await app.repositories.create('acme', 'next')
  const first = await repository.commit(HANDBOOK)
  const second = await repository.commit({ 'docs/page-1.md': '# Page 1\n\nAnother page about lilies.\n', 'docs/page-2.md': null })
  const scratch = await indexedOver(async () => {}, [second])
  const damages: ((path: string, header: SnapshotHeader) => Promise<void>)[] = [
    async () => {},
    (path: string) => rm(path),
    (path: string) => truncate(path, 100),
    ...[0.05, 0.35, 0.65, 0.95].map(share => async (path: string, { search }: SnapshotHeader) => {
      const [, offset, length] = search?.segments[0] ?? [0, 0, 0]
      const bytes = await readFile(path)
      const at = offset + Math.floor(share * length)
      bytes[at] = (bytes[at] ?? 0) ^ 0x01
      await writeFile(path, bytes)
    }),
  ]
  for (const damage of damages) expect(await indexedOver(damage, [first, second])).toEqual(scratch)

  /** What the last of the commits says, indexed one behind the other; between them something happens to the pack. */
  async function indexedOver(
    damage: (path: string, header: SnapshotHeader) => Promise<void>,
    commits: readonly CommitSha[],
  ): Promise<unknown> {
    const own = await mkdtemp(join(folder, 'own-'))
    const blobs = await openDiskBlobStore(own)
    const fresh = await testApp({}, { blobs })
    try {
      const same = await fresh.repositories.create('acme', 'next')
      await same.commit(HANDBOOK)
      await same.commit({ 'docs/page-1.md': '# Page 1\n\nAnother page about lilies.\n', 'docs/page-2.md': null })
      const described = answered(await fresh.host.repository('acme', 'next'))
      for (const commit of commits) {
        await fresh.open(`/local/acme/next@${commit}`)
        if (commit === second) continue
        const header = await storedHeader(blobs, described, commit)
        await damage(join(own, 'o', `${packKey(described, header.packs[0]?.name ?? '')}~`), header)
      }
      return await meaningOf(blobs, described, second)
    } finally {
      await fresh.close()
    }
  }
})

/** Bytes of the search section, from its first to its last. */
function placesIn({ search }: SnapshotHeader): { pack: number; offset: number }[] {
  return (search?.segments ?? []).flatMap(([pack, offset, length]) => {
    const steps = Math.min(length, PLACES)
    const evenly = Array.from({ length: steps }, (_, at) => Math.floor((at * length) / steps))
    return [...evenly, length - 1].map(at => ({ pack, offset: offset + at }))
  })
}
