import { inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { PACK_BYTES } from '#core/limits.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { createSearchBuilder, type SearchBuilderOptions } from '#indexer/search/builder.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { openPreviousSection } from '#indexer/search/previous.ts'
import type { Scratch } from '#indexer/search/scratch.ts'
import { openEarlierSnapshot } from '#indexer/snapshot/earlier-snapshot.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { EMPTY_ROOT, type ReadSection, readSection, SEARCHED_REPOSITORY } from '#test/support/search-section.ts'

const COMMIT = 'c'.repeat(40) as CommitSha
function item(path: string, more: Partial<SearchInput> & { body?: string } = {}): SearchInput {
  const { body, ...rest } = more
  const fields = body === undefined ? {} : { body }
  return { path, kind: 'document', owner: null, title: path, summary: '', text: null, fields, ...rest }
}

/** Builds a section into a store of its own, behind other bytes of the same pack. */
async function build(items: Iterable<SearchInput>, options: SearchBuilderOptions = {}, bytesBefore = 0) {
  const blobs = createMemoryBlobStore(systemClock)
  const writer = createSnapshotWriter(blobs, SEARCHED_REPOSITORY, COMMIT)
  await writer.addBytes(new Uint8Array(bytesBefore))
  const builder = createSearchBuilder(writer, options)
  for (const input of items) await builder.add(input)
  const search = await builder.finish()
  await builder.close()
  const { header } = await writer.finish({ truncated: false, search, root: EMPTY_ROOT })
  return {
    search,
    section: search === null ? null : await readSection(blobs, SEARCHED_REPOSITORY, header, search),
    previous: async () => openPreviousSection(await openEarlierSnapshot(blobs, SEARCHED_REPOSITORY, COMMIT)),
  }
}

/** The bytes of a section and everything that finds its parts. */
async function bytesOf(items: Iterable<SearchInput>, options?: SearchBuilderOptions): Promise<unknown> {
  const { search, section } = await build(items, options)
  if (search === null || section === null) return null
  const { headBytes, headChecksum }: SearchSection = search
  return { headBytes, headChecksum, bytes: Buffer.from(section.bytes).toString('base64') }
}

const WORDS = ['deploy', 'max_tokens', 'getUserProfile', 'the', 'forms', 'データ', 'C++', 'queue', 'retry', '\u{20000}\u{20001}']

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map(words => words.join(' '))

const input = fc
  .record({
    folder: fc.constantFrom('a', 'b', 'b/c', 'ä', '\u{10000}', '\uffee'),
    name: fc.constantFrom('one.md', 'two.md', 'three.txt', 'SKILL.md'),
    title: text,
    summary: text,
    keywords: fc.option(text, { nil: undefined }),
    headings: fc.option(text, { nil: undefined }),
    body: fc.option(text, { nil: undefined }),
    isSupporting: fc.boolean(),
  })
  .map(({ folder, name, title, summary, keywords, headings, body, isSupporting }): SearchInput => {
    const path = `${folder}/${name}`
    const kind = name === 'SKILL.md' ? 'skill' : isSupporting ? 'supporting' : 'document'
    const fields = Object.fromEntries(Object.entries({ keywords, headings, body }).filter(([, value]) => value !== undefined))
    return { path, kind, owner: kind === 'document' ? null : `${folder}/SKILL.md`, title, summary, text: null, fields }
  })

/** Items of one commit: in order, every path once, every supporting file with its skill. */
const commit = fc.uniqueArray(input, { selector: ({ path }) => path, maxLength: 24 }).map(items => {
  const paths = new Set(items.map(({ path }) => path))
  return items
    .map(
      (each): SearchInput => (each.owner !== null && !paths.has(each.owner) ? { ...each, kind: 'document', owner: null } : each),
    )
    .sort((left, right) => compareBytes(left.path, right.path))
})

/** A scratch in memory that counts what is open. */
function countedScratch() {
  const state = { opened: 0, closed: 0 }
  const openScratch = async (): Promise<Scratch> => {
    state.opened++
    const chunks: Uint8Array[] = []
    return {
      async append(bytes) {
        const position = Buffer.concat(chunks).length
        chunks.push(bytes)
        return position
      },
      read: async (position, length) => Uint8Array.from(Buffer.concat(chunks).subarray(position, position + length)),
      async close() {
        state.closed++
      },
    }
  }
  return { state, openScratch }
}

describe('a section', () => {
  test('of no items is null', async () => {
    expect((await build([])).search).toBeNull()
  })

  test('holds every item with what is shown of it, its kind, its skill and the length of its title', async () => {
    const { section } = await build([
      item('a/A.md', { kind: 'supporting', owner: 'a/SKILL.md', title: 'Two words', summary: 'S', text: [0, 7, 9] }),
      item('a/SKILL.md', { kind: 'skill', owner: 'a/SKILL.md', title: 'a' }),
      item('a/x.py', { kind: 'supporting', owner: 'a/SKILL.md', title: 'x' }),
      item('b.md', { title: '' }),
    ])
    expect(section?.items).toEqual([
      { path: 'a/A.md', title: 'Two words', summary: 'S', text: [0, 7, 9], kind: 1, owner: 1, titleLength: 2 },
      { path: 'a/SKILL.md', title: 'a', summary: '', text: null, kind: 0, owner: 1, titleLength: 1 },
      { path: 'a/x.py', title: 'x', summary: '', text: null, kind: 2, owner: 1, titleLength: 1 },
      { path: 'b.md', title: '', summary: '', text: null, kind: 3, owner: -1, titleLength: 0 },
    ])
  })

  test('holds every term once, in byte order, with the items that have it', async () => {
    const { section } = await build([
      item('a.md', { body: 'zebra \uff5e 数据 zebra' }),
      item('b.md', { body: 'zebra max_tokens' }),
    ])
    expect(section?.terms.get('zebra')?.map(({ item }) => item)).toEqual([0, 1])
    expect(section?.terms.get('max_tokens')?.map(({ item }) => item)).toEqual([1])
    const terms = [...(section?.terms.keys() ?? [])]
    expect(terms).toContain('数据')
    expect(terms).toEqual([...terms].sort(compareBytes))
  })

  test('lists the correct words for misspelled ones: words outside of bodies, by length and then by bytes', async () => {
    const { section } = await build([
      item('docs/x.md', { title: 'Deploying max_tokens to production', body: 'bodyword' }),
      item('docs/y.md', {
        title: 'C++ 数据 \u{20000}\u{20001}',
        summary: 'production',
        fields: { keywords: 'orchard', headings: 'Harvest' },
      }),
    ])
    expect(section?.words).toEqual([
      { word: 'token', items: 1 },
      { word: 'harvest', items: 1 },
      { word: 'orchard', items: 1 },
      { word: 'deploying', items: 1 },
      { word: 'production', items: 2 },
    ])
  })

  test('refuses items out of order, duplicates, and files of an absent skill', async () => {
    await expect(build([item('b.md'), item('a.md')])).rejects.toThrow(RangeError)
    await expect(build([item('a.md'), item('a.md')])).rejects.toThrow(RangeError)
    await expect(build([item('a/x.md', { kind: 'supporting', owner: 'a/SKILL.md' })])).rejects.toThrow(RangeError)
  })

  test('continues in the next pack if one is full', async () => {
    const items = [item('a.md', { body: 'zebra' }), item('b.md', { body: 'zebra' })]
    const { search, section } = await build(items, {}, PACK_BYTES - 100)
    expect(search?.segments.map(([pack, offset]) => [pack, offset])).toEqual([
      [0, PACK_BYTES - 100],
      [1, 0],
    ])
    expect(section?.terms.get('zebra')).toHaveLength(2)
  })
})

describe('the blocks of terms', () => {
  const many = Array.from({ length: 30 }, (_, page) => {
    return item(`${String(page).padStart(2, '0')}.md`, {
      body: Array.from({ length: 1_500 }, (_, word) => `word${(page * 1_500 + word) * 7_919}`).join(' '),
    })
  })

  test('begin where they did, except at new terms', async () => {
    const before = await build(many)
    const after = await build([...many, item('z.md', { body: 'another word1234x word7777y' })])
    const [keys = [], later = []] = [before, after].map(({ section }) => section?.head.terms.firstKeys)
    expect(keys.length).toBeGreaterThan(20)
    const known = new Set(keys)
    expect(later.filter(key => !known.has(key)).length).toBeLessThan(4)
  })

  test('have a size within bounds', async () => {
    const { section } = await build(many)
    const { starts } = (section as ReadSection).head.terms
    const sizes = [...starts.subarray(1)].map(
      (end, block) => inflateRawSync((section as ReadSection).bytes.subarray(starts[block], end)).length,
    )
    expect(Math.max(...sizes)).toBeLessThan(25 * 1024)
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(12 * 1024)
  })
})

describe('the bytes of a section', () => {
  test('are the same when postings do not fit into memory', async () => {
    await fc.assert(
      fc.asyncProperty(commit, fc.integer({ min: 1, max: 40 }), async (items, runPostings) => {
        const { state, openScratch } = countedScratch()
        expect(await bytesOf(items, { runPostings, openScratch })).toEqual(await bytesOf(items))
        expect(state.closed).toBe(state.opened)
      }),
      { numRuns: 60 },
    )
  })

  test('are the same with an earlier commit, after any additions, changes, removals and renames', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commit, { minLength: 2, maxLength: 4 }), fc.boolean(), async (commits, spills) => {
        let previous = null
        for (const items of commits) {
          const { openScratch } = countedScratch()
          const options = spills ? { previous, runPostings: 10, openScratch } : { previous }
          expect(await bytesOf(items, options)).toEqual(await bytesOf(items))
          previous = await (await build(items)).previous()
        }
      }),
      { numRuns: 60 },
    )
  })
})
