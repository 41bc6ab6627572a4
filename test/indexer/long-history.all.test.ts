import { expect, test } from 'vitest'
import type { TestFile } from '#test/support/repository.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'
import {
  index,
  meaningAlone,
  newRepository,
  newStores,
  page,
  pages,
  sharesOf,
  skill,
  useReuseScene,
} from './snapshot-reuse-scene.ts'

useReuseScene()

test('in a long history every snapshot equals one made alone, in at most 64 packs, half or more of which it uses', async () => {
  const subject = await newRepository()
  const { blobs, states } = newStores()
  let commit = await subject.repository.commit({ ...pages(60), 'a/SKILL.md': skill('a') })
  await index({ blobs, states }, subject, commit)
  const packCounts: number[] = []
  for (let turn = 1; turn <= 90; turn++) {
    const changes: Record<string, TestFile> = { [`docs/${turn % 9}/page-${turn % 60}.md`]: page(turn % 60, turn) }
    if (turn % 10 === 3) changes[`docs/new-${turn}.md`] = page(1_000 + turn)
    if (turn % 10 === 7) changes[`docs/new-${turn - 4}.md`] = null
    commit = await subject.repository.commit(changes)
    await index({ blobs, states }, subject, commit)
    const header = await storedHeader(blobs, subject.described, commit)
    packCounts.push(header.packs.length)
    const { packed, used } = await sharesOf(blobs, subject, header)
    expect({ turn, used: header.usedBytes, isHalf: used >= packed / 2 }).toEqual({ turn, used, isHalf: true })
    if (turn % 15 === 0) expect(await meaningOf(blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
  }
  expect(Math.max(...packCounts)).toBeLessThanOrEqual(64)
  // It went on from packs, and it began anew.
  expect(Math.max(...packCounts)).toBeGreaterThan(3)
  expect(packCounts.filter((count, at) => at > 0 && count < (packCounts[at - 1] ?? 0)).length).toBeGreaterThan(0)
})
