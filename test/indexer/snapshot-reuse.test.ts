import { describe, expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { countStore } from '#test/support/counted-store.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'
import { index, meaningAlone, newRepository, newStores, page, pages, skill, useReuseScene } from './snapshot-reuse-scene.ts'

useReuseScene()

describe('the next commit', () => {
  test('is one pack of new objects, and a header; the packs before it stay unchanged', async () => {
    const subject = await newRepository()
    const first = await subject.repository.commit({ ...pages(500), 'a/SKILL.md': skill('a') })
    const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1), 'docs/5/new.md': page(9_999) })
    const { blobs: stored, states } = newStores()
    const { blobs, counts, reset } = countStore(stored)
    await index({ blobs, states }, subject, first)
    const full = counts.putBytes
    reset()
    const written = await index({ blobs, states }, subject, second)
    expect(counts.puts).toBe(2)
    expect(counts.putBytes).toBeLessThan(full / 10)
    const [before, after] = [await storedHeader(blobs, subject.described, first), written?.header as SnapshotHeader]
    expect(after.packs.slice(0, -1)).toEqual(before.packs)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
    expect(await meaningOf(blobs, subject.described, first)).toEqual(await meaningAlone(subject, first))
  })

  test('of the same tree stores little more than its header', async () => {
    const subject = await newRepository()
    const first = await subject.repository.commit(pages(300))
    const second = await subject.repository.commit({})
    const { blobs: stored, states } = newStores()
    const { blobs, counts, reset } = countStore(stored)
    await index({ blobs, states }, subject, first)
    reset()
    await index({ blobs, states }, subject, second)
    expect(counts.puts).toBeLessThanOrEqual(2)
    expect(counts.putBytes).toBeLessThan(10_000)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })

  test('recognises renamed files', async () => {
    const subject = await newRepository()
    const first = await subject.repository.commit(pages(300))
    const moved = Object.fromEntries(Object.entries(pages(300)).map(([path, text]) => [path.replace('docs/', 'guide/'), text]))
    const second = await subject.repository.commit({ 'package.json': '{"license":"MIT"}\n', ...moved }, { replace: true })
    const { blobs, states } = newStores()
    await index({ blobs, states }, subject, first)
    const written = await index({ blobs, states }, subject, second)
    const fresh = (await storedHeader(blobs, subject.described, second)).packs.at(-1)
    const records = (await storedHeader(blobs, subject.described, first)).packs[0]
    expect(written?.header.packs[0]).toEqual(records)
    expect(fresh?.sizeBytes).toBeLessThan((records?.sizeBytes ?? 0) / 2)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })
})

test('when most of a tree is deleted, the rest is written again', async () => {
  const subject = await newRepository()
  const { blobs, states } = newStores()
  const first = await subject.repository.commit(pages(300))
  const gone = Object.fromEntries(
    Object.keys(pages(300))
      .slice(0, 250)
      .map(path => [path, null]),
  )
  const second = await subject.repository.commit(gone)
  await index({ blobs, states }, subject, first)
  await index({ blobs, states }, subject, second)
  const [before, after] = await Promise.all([first, second].map(commit => storedHeader(blobs, subject.described, commit)))
  expect(after?.packs.some(({ name }) => before?.packs.some(pack => pack.name === name))).toBe(false)
  expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
})

describe('packs that disappear while a job builds on them', () => {
  async function twoCommits() {
    const subject = await newRepository()
    const first = await subject.repository.commit(pages(50))
    const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
    const stores = newStores()
    await index(stores, subject, first)
    return { subject, first, second, ...stores }
  }

  /** The store, in which something happens when the header of the commit is about to be written. */
  function onPublish(blobs: BlobStore, key: string, happens: () => Promise<unknown>): BlobStore {
    return {
      ...blobs,
      async create(created, bytes) {
        if (created === key) await happens()
        return blobs.create(created, bytes)
      },
    }
  }

  test('the snapshot is built from scratch when one was removed before its header stood', async () => {
    const { subject, first, second, blobs, states } = await twoCommits()
    const [pack] = (await storedHeader(blobs, subject.described, first)).packs
    let turns = 0
    const watched = onPublish(blobs, headerKey(subject.described, second), async () => {
      if (turns++ === 0) await blobs.remove(packKey(subject.described, pack?.name ?? ''))
    })
    await index({ blobs: watched, states }, subject, second)
    expect(turns).toBe(2)
    const header = await storedHeader(blobs, subject.described, second)
    expect(header.packs.map(({ name }) => name)).not.toContain(pack?.name)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })

  test('no header is left without its packs when they disappear again and again', async () => {
    const { subject, second, blobs, states } = await twoCommits()
    const removeAll = async () => {
      for (const key of await blobs.list('')) if (key.includes('/p/')) await blobs.remove(key)
    }
    const watched = onPublish(blobs, headerKey(subject.described, second), removeAll)
    await expect(index({ blobs: watched, states }, subject, second)).rejects.toThrow('a sweep removed packs')
    expect(await blobs.read(headerKey(subject.described, second))).toBeNull()
    await index({ blobs, states }, subject, second)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })

  test('the header of a faster worker stays', async () => {
    const { subject, second, blobs, states } = await twoCommits()
    const key = headerKey(subject.described, second)
    let isOther = true
    const watched = onPublish(blobs, key, async () => {
      if (!isOther) return
      isOther = false
      await index({ blobs }, subject, second)
    })
    const written = await index({ blobs: watched, states }, subject, second)
    expect(written?.isFirst).toBe(false)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })
})
