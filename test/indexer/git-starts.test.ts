import { expect, test } from 'vitest'
import type { RepositoryReader } from '#core/ports/git-host.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { host, newRepository, newStores, useReuseScene } from './snapshot-reuse-scene.ts'
import { skill } from './snapshot-scene.ts'

useReuseScene()

/** A reader that says how many of its readings were begun, and how many came to their end. */
function counted(reader: RepositoryReader, counts: { begun: number; ended: number }): RepositoryReader {
  return {
    cut: false,
    entries: () => reader.entries(),
    async *read(oids, maxBytes) {
      counts.begun++
      yield* reader.read(oids, maxBytes)
      counts.ended++
    },
    close: () => reader.close(),
  }
}

test('a job reads to the end, since git is restarted after an abandoned reading', async () => {
  const subject = await newRepository()
  const stores = newStores()
  const counts = { begun: 0, ended: 0 }
  const counting = {
    segment: host.segment,
    isRemote: host.isRemote,
    open: async (...args: Parameters<typeof host.open>) => counted(await host.open(...args), counts),
  }
  const files = {
    'SKILLSET.md': '---\nname: Set\ninclude: [docs/]\n---\nRules.\n',
    'skills/one/SKILL.md': skill('one', 'See [the notes](notes.md) and [a page](/docs/page.md).\n'),
    'skills/one/notes.md': '# Notes\n',
    'docs/page.md': '# Page\n',
    'docs/other.md': '# Other\n',
  }
  for (const changes of [files, { 'docs/page.md': '# Page\n\nChanged.\n' }]) {
    const commit = await subject.repository.commit(changes)
    const job = { repository: subject.described, commit }
    await writeSnapshot({ ...stores, hosts: [counting] }, job, new AbortController().signal)
  }
  expect(counts.begun).toBeGreaterThan(4)
  expect(counts.ended).toBe(counts.begun)
})
