/** The search of the documentation: an index for each language, made of the rendered pages. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { close, createIndex } from 'pagefind'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** What a page loads: the search itself and the parts of the index. Elements of Pagefind's own and its worker are left out. */
const LOADED = /^(?:pagefind\.js|pagefind-entry\.json|.*\.(?:pagefind|pf_meta|pf_index|pf_fragment))$/

/**
 * Writes the search below `pagefind/` of the built site.
 *
 * @returns {import('astro').AstroIntegration}
 */
export function indexDocs() {
  return {
    name: 'index-docs',
    hooks: { 'astro:build:done': ({ dir }) => writeSearch(join(fileURLToPath(dir), 'pagefind')) },
  }
}

/** @param {string} folder */
async function writeSearch(folder) {
  const { index } = await createIndex({ excludeSelectors: ['.anchor'] })
  if (!index) throw new Error('the search of the documentation cannot be built')
  for (const page of await renderPages()) {
    const { errors } = await index.addHTMLFile(page)
    if (errors.length > 0) throw new Error(`the search of ${page.url} cannot be built: ${errors.join('; ')}`)
  }
  const { files } = await index.getFiles()
  await close()
  for (const { path, content } of files) {
    if (!LOADED.test(path.replace(/^.*\//, ''))) continue
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, path === 'pagefind-entry.json' ? inOrder(content) : content)
  }
}

/** The list of languages, whose order differs from build to build. @param {Uint8Array} content */
function inOrder(content) {
  const entry = JSON.parse(Buffer.from(content).toString())
  return JSON.stringify({ ...entry, languages: Object.fromEntries(Object.entries(entry.languages).sort()) })
}

/** Every page of the documentation in every language, as HTML. */
async function renderPages() {
  const { loadDocs, sourceOf } = await import('../../site/lib/docs.ts')
  const { DOCS_PAGES, docsHref } = await import('../../site/lib/docs-pages.ts')
  const { LANGUAGES } = await import('#words/t.ts')
  const pages = []
  for (const language of LANGUAGES) {
    for (const page of DOCS_PAGES) {
      const path = sourceOf(page, language)
      const sources = path === null ? {} : { [`/${path}`]: await readFile(join(ROOT, path), 'utf8') }
      const loaded = loadDocs(page.slug, language, sources)
      if (loaded === null) continue
      const body = `<body data-pagefind-body><h1>${loaded.title.replaceAll('<', '&lt;')}</h1>${loaded.html}</body>`
      // A page has one URL in all languages; the index keeps one page of each URL.
      pages.push({ url: `${docsHref(page)}?lang=${language}`, content: `<!doctype html><html lang="${language}">${body}</html>` })
    }
  }
  return pages
}
