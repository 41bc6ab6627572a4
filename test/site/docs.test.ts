import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { DOCS_PAGES, docsHref } from '#site/lib/docs-pages.ts'
import { DE } from '#words/de/de.ts'
import { LANGUAGES, PAGE_T } from '#words/t.ts'
import { attributesOf, dangersOf, tagsOf, textOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

const ROOT = join(import.meta.dirname, '..', '..')

let site: Site
beforeAll(async () => {
  site = await openSite({}, { hosts: ['local', 'gh'] })
})
afterAll(() => site.close())

/** Ids of a page, decoded as a browser compares them. */
const idsOf = (html: string) => new Set(attributesOf(html, '[a-z0-9]+', 'id'))

test.each(LANGUAGES)('every link and anchor of the documentation in %s leads to something', async language => {
  const pages = new Map<string, { status: number; html: string }>()
  const read = async (path: string) => {
    const page = pages.get(path) ?? (await site.get(path, 'GET', { 'accept-language': language }))
    pages.set(path, page)
    return page
  }
  const broken: string[] = []
  for (const href of DOCS_PAGES.map(docsHref)) {
    const { html } = await read(href)
    for (const link of attributesOf(html, 'a', 'href').filter(target => /^[/#]/.test(target) && !target.startsWith('/api/'))) {
      const [path = '', fragment] = link.split('#')
      const target = await read(path === '' ? href : path)
      const isThere = target.status === 200 && (fragment === undefined || idsOf(target.html).has(decodeURIComponent(fragment)))
      if (!isThere) broken.push(`${href} -> ${link}`)
    }
  }
  expect(broken).toEqual([])
})

describe.each(DOCS_PAGES)('the page $name', page => {
  test('has one title, headings in their order, and a twin in Markdown that is its source', async () => {
    const { status, html } = await site.get(docsHref(page))
    expect(status).toBe(200)
    expect(dangersOf(html)).toEqual([])
    const levels = tagsOf(html)
      .flatMap(tag => /^<h([1-6])/.exec(tag)?.[1] ?? [])
      .map(Number)
    expect(levels.filter(level => level === 1)).toEqual([1])
    for (const [index, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1)

    const twin = attributesOf(html, 'link', 'href').find(href => href.endsWith('.md')) ?? ''
    const { headers, html: text } = await site.get(new URL(twin).pathname)
    expect(headers['content-type']).toBe('text/markdown; charset=utf-8')
    if (page.source !== null) expect(await readFile(join(ROOT, page.source), 'utf8')).toContain(text)
    expect((await site.get(docsHref(page), 'GET', { accept: 'text/markdown' })).html).toBe(text)
  })
})

/** The parts of a text that two languages have in common: its code blocks, its inline code, the targets of its links, its headings. */
function skeletonOf(html: string) {
  const prose = /<div class="prose">([\s\S]*?)<\/div>\s*<nav class="pager"/.exec(html)?.[1] ?? ''
  const linked = attributesOf(prose, 'a', 'href').filter(href => !href.startsWith('#'))
  return {
    blocks: prose.match(/<pre[\s\S]*?<\/pre>/g) ?? [],
    code: [...new Set(prose.match(/<code>[\s\S]*?<\/code>/g) ?? [])].sort(),
    links: linked.map(href => href.replace(/#.*$/, '')).sort(),
    headings: tagsOf(prose)
      .filter(tag => /^<(?:h[1-6]|li|td|th|p)\b/.test(tag))
      .map(tag => tag.replace(/ .*/s, '>')),
  }
}

describe.each(LANGUAGES.filter(language => language !== 'en'))('in %s', language => {
  test.each(DOCS_PAGES)('the page $name has the code, links, headings and tables of the English one', async page => {
    const english = await site.get(`${docsHref(page)}?lang=en`)
    const translated = await site.get(docsHref(page), 'GET', { 'accept-language': language })
    const skeleton = skeletonOf(translated.html)
    expect(skeleton.headings.length).toBeGreaterThan(5)
    const plain = { ...skeletonOf(english.html), links: skeletonOf(english.html).links.map(href => href.replace('?lang=en', '')) }
    expect(skeleton).toEqual(plain)
    expect(attributesOf(translated.html, 'link', 'href')).toContain(
      `https://mountglass.example${docsHref(page)}?lang=${language}`,
    )
    expect(textOf(translated.html)).not.toBe(textOf(english.html))
  })

  test('the twin in Markdown is in the language of its URL', async () => {
    const { html } = await site.get(`/docs/addresses?lang=${language}`)
    const twin = attributesOf(html, 'link', 'href').find(href => href.includes('.md')) ?? ''
    const { pathname, search } = new URL(twin)
    expect((await site.get(pathname + search)).html).toBe(await readFile(join(ROOT, 'docs', language, 'addresses.md'), 'utf8'))
  })

  test('the contract has words for each of its routes and fields', () => {
    const said = new Set(Object.values(ENDPOINTS).map(({ summary }) => summary))
    const collect = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      if ('description' in schema && typeof schema.description === 'string') said.add(schema.description)
      Object.values(schema).forEach(collect)
    }
    for (const { query, body, answer } of Object.values(ENDPOINTS)) {
      if (body) collect(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }))
      collect(z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }))
      collect(z.toJSONSchema(answer, { io: 'output', unrepresentable: 'any' }))
    }
    expect([...said].filter(words => DE.contract[words] === undefined)).toEqual([])
    expect(Object.keys(DE.contract).filter(words => !said.has(words))).toEqual([])
  })
})

test.each(LANGUAGES)('pages link to omitted ones, as the documentation in %s does', async language => {
  const { html } = await site.get(`/docs?lang=${language}`)
  expect(attributesOf(html, 'h2', 'id')).toContain(PAGE_T[language]('docs.leftOutId'))
})

test('the reference has every route with its parameters, its errors and the fields of its answer', async () => {
  const text = textOf((await site.get('/docs/rest')).html)
  expect(text).not.toMatch(/(?:string|boolean|number|integer|object|array),null/)
  for (const { method, path, summary, errors } of Object.values(ENDPOINTS)) {
    expect(text).toContain(`${summary} # ${method} /api/v1${path}`)
    for (const code of errors) expect(text).toContain(code)
  }
  for (const words of ['nextOffset', 'describedOnly', 'ruleChain', '"directory"', 'query string Not blank.'])
    expect(text).toContain(words)
})

test.each(['/docs/nothing', '/docs/Rest', '/docs/a/b', '/docs/..%2Fstart', '/docs/rest.html', '/docs/nothing.md'])(
  '%s is not found',
  async target => {
    const { status, html } = await site.get(target)
    expect(status).toBe(404)
    expect(html).not.toContain('REST reference')
  },
)

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
])('an error page is readable by a browser that accepts %s', async (accepted, decompress) => {
  const { headers, bytes } = await site.get('/docs/nothing', 'GET', { 'accept-encoding': accepted })
  expect(headers).toMatchObject({ 'content-encoding': accepted, vary: 'accept, accept-language, accept-encoding' })
  expect(decompress(bytes).toString()).toContain('Page not found')
})

test('the sitemap has the pages that are the same for everyone, and robots.txt names it', async () => {
  const { html } = await site.get('/sitemap.xml')
  for (const page of DOCS_PAGES) expect(html).toContain(`<loc>https://mountglass.example${docsHref(page)}</loc>`)
  expect(html).not.toContain('/local/')
  const robots = (await site.get('/robots.txt')).html
  expect(robots).toContain('Sitemap: https://mountglass.example/sitemap.xml')
})
