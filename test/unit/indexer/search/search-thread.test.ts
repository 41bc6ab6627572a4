import { createHash } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import type { Location } from '#core/snapshot/format.ts'
import { createSearchBuilder, type SearchBuilder } from '#indexer/search/builder.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import type { SectionPlace } from '#indexer/search/page-stream.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'

const open: SearchBuilder[] = []
afterEach(async () => {
  for (const builder of open.splice(0)) await builder.close()
})

/** As much that a thread is started. */
const MUCH_TEXT_BYTES = 4 * 1024 * 1024

function start(place: SectionPlace, signal = new AbortController().signal): SearchBuilder {
  const builder = createSearchThreads().start(place, signal, MUCH_TEXT_BYTES) as SearchBuilder
  open.push(builder)
  return builder
}

const item = (number: number): SearchInput => ({
  path: `docs/page-${String(number).padStart(5, '0')}.md`,
  kind: 'document',
  owner: null,
  title: `Page ${number}`,
  summary: '',
  text: [0, number, 1],
  fields: { blob: String(number) },
  readText: () => ({
    headings: `Part ${number % 7}`,
    body: Array.from({ length: 300 }, (_, at) => `word${(at * number) % 997}`).join(' '),
  }),
})
const ITEMS = Array.from({ length: 1_500 }, (_, number) => item(number))

/** Where the bytes go: their hash. */
function hashing(): SectionPlace & { digest(): string } {
  const hash = createHash('sha256')
  let length = 0
  return {
    async addBytes(bytes): Promise<Location[]> {
      hash.update(bytes)
      length += bytes.length
      return [[0, length - bytes.length, bytes.length]]
    },
    digest: () => hash.digest('hex'),
  }
}

async function build(builder: SearchBuilder, items: readonly SearchInput[]) {
  for (const one of items) {
    const waiting = builder.add(one)
    if (waiting) await waiting
  }
  return builder.finish()
}

test('the section is the one that is built without a thread', async () => {
  const [place, alone] = [hashing(), hashing()]
  const section = await build(start(place), ITEMS)
  expect(section).toEqual(await build(createSearchBuilder(alone), ITEMS))
  expect(place.digest()).toBe(alone.digest())
})

test('a failure of the thread is that of the builder', async () => {
  await expect(build(start(hashing()), [item(2), item(1)])).rejects.toThrow('search items out of order')
})

test('a failure of the place is that of the builder', async () => {
  const place: SectionPlace = { addBytes: () => Promise.reject(new Error('the store is away')) }
  await expect(build(start(place), [item(1)])).rejects.toThrow('the store is away')
})

test('a builder whose job is stopped ends with the reason', async () => {
  const stop = new AbortController()
  const builder = start({ addBytes: () => new Promise(() => {}) }, stop.signal)
  await builder.add(item(1))
  const finished = builder.finish()
  stop.abort(new Error('the job was stopped'))
  await expect(finished).rejects.toThrow('the job was stopped')
  expect(() => builder.add(item(2))).toThrow('the job was stopped')
})
