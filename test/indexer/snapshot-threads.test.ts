import { expect, test } from 'vitest'
import { createSearchThreads, type SearchThreads } from '#indexer/search/search-thread.ts'
import { index } from '#test/support/indexed.ts'
import { MIT, newRepository, repositories, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

const FILES = Object.fromEntries([
  ['LICENSE', MIT],
  ['skills/a/SKILL.md', skill('a', 'Read [the notes](notes.md) and [a page](../../docs/page-7.md).\n')],
  ['skills/a/notes.md', `# Notes\n${'a line of a long file\n'.repeat(9_000)}`],
  ['skills/a/small.json', '{}'],
  ...Array.from({ length: 120 }, (_, page) => [
    `docs/page-${page}.md`,
    `# Page ${page}\n\n${`word${page % 9} here `.repeat(9 * page)}\n`,
  ]),
])

/** Also for little text. */
function searchThreadsAlways(): SearchThreads {
  const threads = createSearchThreads()
  return { start: (place, signal) => threads.start(place, signal, Number.POSITIVE_INFINITY) }
}

test('a search thread writes the snapshot that one thread does, and so does the thread that was kept', async () => {
  const repository = await newRepository()
  const commit = await repository.commit(FILES)
  const alone = await index(repository, commit, repositories.root)
  const searchThreads = searchThreadsAlways()
  for (const _ of ['new', 'kept']) {
    const beside = await index(repository, commit, repositories.root, {}, { searchThreads })
    expect(await beside.objects()).toEqual(await alone.objects())
  }
})
