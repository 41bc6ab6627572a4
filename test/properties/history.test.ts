import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { TestFile } from '#test/support/repository.ts'
import { runs } from '#test/support/runs.ts'
import { meaningOf } from '#test/support/snapshot-meaning.ts'
import {
  index,
  meaningAlone,
  newRepository,
  newStores,
  page,
  pages,
  skill,
  useReuseScene,
} from '../indexer/snapshot-reuse-scene.ts'

useReuseScene()

test('in any history, a snapshot equals one made alone', async () => {
  const change = fc.record({
    edits: fc.array(fc.tuple(fc.nat(39), fc.nat(5)), { maxLength: 6 }),
    removed: fc.array(fc.nat(39), { maxLength: 3 }),
    license: fc.constantFrom('MIT', 'UNLICENSED'),
    excludes: fc.constantFrom('', 'docs/3/', 'docs/*/page-1*.md'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 4 }), fc.boolean(), async (changes, backwards) => {
      const subject = await newRepository()
      const shas: CommitSha[] = []
      for (const { edits, removed, license, excludes } of changes) {
        const files: Record<string, TestFile> = {
          ...pages(40),
          'package.json': `{"license":"${license}"}\n`,
          'SKILLSET.md': `---\nname: Kept\n${excludes && `exclude: ["${excludes}"]\n`}---\nRules.\n`,
          'a/SKILL.md': skill('a'),
        }
        for (const [at, turn] of edits) files[`docs/${at % 9}/page-${at}.md`] = page(at, turn)
        for (const at of removed) delete files[`docs/${at % 9}/page-${at}.md`]
        shas.push(await subject.repository.commit(files, { replace: true }))
      }
      const stores = newStores()
      for (const commit of backwards ? shas.toReversed() : shas) await index(stores, subject, commit)
      for (const commit of shas) {
        expect(await meaningOf(stores.blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
      }
    }),
    { numRuns: runs(12) },
  )
})
