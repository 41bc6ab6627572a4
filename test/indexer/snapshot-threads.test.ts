import { expect, test } from 'vitest'
import type { IndexThreads } from '#indexer/pipeline/write-snapshot.ts'
import { createSearchBuilder, type SearchBuilder } from '#indexer/search/builder.ts'
import type { SectionPlace } from '#indexer/search/page-stream.ts'
import { createSearchThreads, type SearchThreads } from '#indexer/search/search-thread.ts'
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

test.each([
  [
    'begin',
    () => {
      throw new Error('no search')
    },
  ],
  ['be closed', (...[place, signal]: Parameters<SearchThreads['start']>) => failingAtClose(place, signal)],
] as const)('a job whose search cannot %s closes the thread that compresses', async (_, start) => {
  const repository = await newRepository()
  const commit = await repository.commit(FILES)
  let closed = 0
  const gzipThreads = {
    start() {
      const compressor = createGzipThreads().start(Number.POSITIVE_INFINITY)
      return (
        compressor && {
          compress: (bytes: Uint8Array) => compressor.compress(bytes),
          async close() {
            closed++
            await compressor.close()
          },
        }
      )
    },
  }
  const job = index(repository, commit, repositories.root, {}, { searchThreads: { start }, gzipThreads })
  await expect(job).rejects.toThrow('no search')
  expect(closed).toBe(1)
})

function failingAtClose(place: SectionPlace, signal: AbortSignal): SearchBuilder {
  const builder = createSearchBuilder(place, { previous: null, signal })
  return {
    add: item => builder.add(item),
    finish: originals => builder.finish(originals),
    async close() {
      await builder.close()
      throw new Error('no search')
    },
  }
}

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
