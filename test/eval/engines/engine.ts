import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { SearchInput } from '#indexer/search/input.ts'
import type { Source } from '#test/support/local-find.ts'
import { createSlowReads, type SlowReads } from '#test/support/slow-store.ts'
import type { Unit } from '../metrics.ts'

/** A search engine over the items of one repository, its bundle in a folder that stands for an object store. */
export interface Engine {
  build(subject: Subject, folder: string): Promise<Bundle>
  /** A reader that knows nothing yet. Whatever it needs of the bundle it takes from `store`. */
  open(subject: Subject, folder: string, store: SlowStore): Promise<OpenEngine>
}

export interface Subject {
  source: Source
  items: readonly SearchInput[]
  /** Of most of its text: `en`, `ja`. */
  language: string
}

export interface Bundle {
  /** Wall time of making the bundle from the items. */
  seconds: number
  objects: number
  /** As stored, compressed where the engine compresses. */
  bytes: number
}

export interface OpenEngine {
  /** At least the first ten units, where there are as many. */
  find(query: string): Promise<Unit[]>
  close(): Promise<void>
}

/** The folder of a bundle as an object store. */
export interface SlowStore extends SlowReads {
  read(folder: string, file: string): Promise<Buffer>
}

export function createSlowStore(isSlow: boolean): SlowStore {
  const slow = createSlowReads(isSlow)
  return Object.assign(slow, {
    async read(folder: string, file: string) {
      const content = await readFile(join(folder, file))
      return slow.delay(content, content.length)
    },
  })
}

/** Stores what is read whole, compressed. @returns bytes as stored */
export async function writePacked(folder: string, file: string, content: Uint8Array): Promise<number> {
  const packed = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
  await writeFile(join(folder, file), packed)
  return packed.length
}

export async function readPacked(store: SlowStore, folder: string, file: string): Promise<Buffer> {
  return brotliDecompressSync(await store.read(folder, file))
}

const BROTLI_QUALITY = 5

/** The fields of an item as every engine gets them. */
export function fieldsOf({ path, title, summary, fields }: SearchInput): Record<Field, string> {
  const { name, description, keywords, headings, body } = fields
  return {
    title: name === undefined || name === title ? title : `${name}\n${title}`,
    description: description ?? summary,
    keywords: keywords ?? '',
    path,
    headings: headings ?? '',
    body: body ?? '',
  }
}

export type Field = 'title' | 'description' | 'keywords' | 'path' | 'headings' | 'body'

/** How much a field counts, where an engine can be told. */
export const WEIGHTS: Readonly<Record<Field, number>> = {
  title: 8,
  description: 4,
  keywords: 3,
  path: 2.5,
  headings: 2,
  body: 1,
}

export function ownersOf(items: readonly SearchInput[]): (path: string) => string | null {
  const owners = new Map(items.map(({ path, kind, owner }) => [path, kind === 'document' ? null : owner]))
  return path => owners.get(path) ?? null
}

/** How many items of a ranked list are folded: enough for ten units and the files that they name. */
export const RANKED_ITEMS = 200

export async function timed<Value>(work: () => Value | Promise<Value>): Promise<{ value: Value; seconds: number }> {
  const startedAt = performance.now()
  const value = await work()
  return { value, seconds: (performance.now() - startedAt) / 1000 }
}
