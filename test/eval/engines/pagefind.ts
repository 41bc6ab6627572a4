import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import * as pagefindIndexer from 'pagefind'
import type { SearchInput } from '#indexer/search/input.ts'
import { foldRanked } from '../metrics.ts'
import { type Engine, fieldsOf, ownersOf, RANKED_ITEMS, type SlowStore, timed, WEIGHTS } from './engine.ts'

/** What of its browser module is used here. */
interface PagefindModule {
  createInstance(options: { basePath: string }): { search(query: string): Promise<{ results: { id: string }[] }> }
}

const BASE = 'http://bundle.invalid/'

/**
 * One page of HTML an item, asked in one query: its records of other kinds know no weights of fields. Its fragments are not read for an answer: which page a result is stands in a table that
 * was made when building, which costs nothing here.
 */
export const pagefind: Engine = {
  async build({ items, language }, folder) {
    const { value: files, seconds } = await timed(async () => {
      const { index } = await pagefindIndexer.createIndex()
      if (!index) throw new Error('Pagefind made no index')
      for (const item of items) {
        const { errors } = await index.addHTMLFile({ url: `${BASE}${item.path}`, content: pageOf(item, language) })
        if (errors.length > 0) throw new Error(`${item.path}: ${errors.join(', ')}`)
      }
      const { files } = await index.getFiles()
      await pagefindIndexer.close()
      return files
    })
    let objects = 0
    let bytes = 0
    for (const { path, content } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content)
      if (!isData(path)) continue
      objects++
      bytes += content.length
    }
    return { seconds, objects, bytes }
  },
  async open({ items, language }, folder, store) {
    const ownerOf = ownersOf(items)
    const paths = await readPaths(folder, items)
    pretendBrowser(folder, language, store)
    // Instances of one module share what they have loaded, so every reader gets a module of its own.
    const module = (await import(`${pathToFileURL(join(folder, 'pagefind.js')).href}?${opened++}`)) as PagefindModule
    const instance = module.createInstance({ basePath: BASE })
    return {
      find: async query => {
        pretendBrowser(folder, language, store)
        const { results } = await instance.search(query)
        return foldRanked(
          results.slice(0, RANKED_ITEMS).map(({ id }) => paths.get(id) ?? ''),
          ownerOf,
        )
      },
      close: async () => {},
    }
  },
}

let opened = 0

/** Not the program that comes with every bundle: the program of an engine costs nothing here. */
function isData(path: string): boolean {
  return !/\.(js|css)$|^wasm\./.test(path)
}

function pageOf(item: SearchInput, language: string): string {
  const { title, description, keywords, path, headings, body } = fieldsOf(item)
  const sections = headings.split('\n').map(heading => `<h2>${escapeHtml(heading)}</h2>`)
  return [
    `<html lang="${language}"><body><h1>${escapeHtml(title)}</h1>`,
    `<p data-pagefind-weight="${WEIGHTS.description}">${escapeHtml(description)}</p>`,
    `<p data-pagefind-weight="${WEIGHTS.keywords}">${escapeHtml(keywords)}</p>`,
    `<p data-pagefind-weight="${WEIGHTS.path}">${escapeHtml(path.replaceAll(/[/.]/g, ' '))}</p>`,
    ...sections,
    `<p>${escapeHtml(body)}</p></body></html>`,
  ].join('\n')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Item path by the name of a result. */
async function readPaths(folder: string, items: readonly SearchInput[]): Promise<Map<string, string>> {
  const known = new Set(items.map(({ path }) => path))
  const paths = new Map<string, string>()
  for (const file of await readdir(join(folder, 'fragment'))) {
    const text = gunzipSync(await readFile(join(folder, 'fragment', file))).toString()
    const { url } = JSON.parse(text.slice(text.indexOf('{'))) as { url: string }
    const path = url.slice(url.indexOf(BASE) + BASE.length)
    if (!known.has(path)) throw new Error(`${file} is of no item: ${url}`)
    paths.set(file.replace(/\.pf_fragment$/, ''), path)
  }
  return paths
}

/** It was made for pages: it takes the language from one, and reads by `fetch`. */
function pretendBrowser(folder: string, language: string, store: SlowStore): void {
  const root = { getAttribute: () => language, lang: language }
  Reflect.set(globalThis, 'document', { querySelector: () => root, currentScript: null, documentElement: root })
  globalThis.fetch = async input => {
    const file = decodeURIComponent(new URL(String(input)).pathname.slice(1))
    const content = isData(file) ? await store.read(folder, file) : await readFile(join(folder, file))
    return new Response(new Uint8Array(content))
  }
}
