import { expect, test } from 'vitest'
import type { IndexThreads } from '#indexer/pipeline/write-snapshot.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'
import { createGzipThreads } from '#indexer/snapshot/gzip-thread.ts'
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
function threadsAlways(): IndexThreads {
  const [search, gzip] = [createSearchThreads(), createGzipThreads()]
  return {
    searchThreads: { start: (place, signal) => search.start(place, signal, Number.POSITIVE_INFINITY) },
    gzipThreads: { start: () => gzip.start(Number.POSITIVE_INFINITY) },
  }
}

test('threads write the snapshot that one thread does, and so do the threads that were kept', async () => {
  const repository = await newRepository()
  const commit = await repository.commit(FILES)
  const alone = await index(repository, commit, repositories.root)
  const threads = threadsAlways()
  for (const _ of ['new', 'kept']) {
    const beside = await index(repository, commit, repositories.root, {}, threads)
    expect(await beside.objects()).toEqual(await alone.objects())
  }
})

test('a job fails with the thread that compresses', async () => {
  const repository = await newRepository()
  const commit = await repository.commit(FILES)
  const ending = new URL(
    'data:text/javascript,process.getBuiltinModule("worker_threads").parentPort.once("message",()=>process.exit(3))',
  )
  const failing = createGzipThreads(ending)
  const threads = { ...threadsAlways(), gzipThreads: { start: () => failing.start(Number.POSITIVE_INFINITY) } }
  await expect(index(repository, commit, repositories.root, {}, threads)).rejects.toThrow('ended with 3')
})
