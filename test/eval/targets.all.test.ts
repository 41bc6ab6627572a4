import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { CORPUS } from '#test/support/corpus.ts'
import { type Asked, askService, rowsByKind, unpackRepositories } from './ask.ts'
import { TARGETS } from './metrics.ts'
import { readSets } from './sets.ts'

/** Beyond this share the questions would measure what is searched at all, not how well. */
const NOT_ELIGIBLE = 0.03

const shipped = CORPUS === null ? [] : readSets().filter(({ gates }) => gates)

describe.runIf(shipped.length > 0)('find over real repositories', () => {
  let asked: Asked[] = []

  beforeAll(async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'mountglass-targets-'))
    try {
      const { repositories } = await unpackRepositories(CORPUS ?? '', shipped, scratch)
      asked = await askService(shipped, repositories, scratch)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }, 300_000)

  test.each(Object.entries(TARGETS))('answers questions of the class %s as well as its target says', (cls, target) => {
    const row = rowsByKind(asked).find(row => row.cls === cls)
    expect(row?.mrr).toBeGreaterThanOrEqual(target.mrr)
    expect(row?.recall).toBeGreaterThanOrEqual(target.recall ?? 0)
  })

  test('may name an answer of nearly every question', () => {
    const notEligible = asked.filter(({ eligible }) => eligible.length === 0)
    expect(notEligible.length).toBeLessThanOrEqual(NOT_ELIGIBLE * asked.length)
  })
})
