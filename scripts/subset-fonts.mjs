/**
 * Writes the fonts that the first page of a visit loads: the characters of English and German text, in `site/fonts`; and
 * `site/styles/fallback-fonts.css`, by which other fonts take the same room until they arrive. Run it when the packages of IBM Plex change:
 * `node scripts/subset-fonts.mjs`. The results are committed, so that a build needs no program for fonts.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { FALLBACK_CSS } from './fallback-fonts.mjs'

/** Installed into a folder of its own: nothing else needs it. */
const SUBSETTER = 'subset-font@2.9.0'
/** `site/styles/fonts.css` names the same ranges. */
const CHARACTERS = `${ascii()}\u00a0§«»·×ÄÖÜßäéöü–—‘’‚“”„•…→−`
/** What text is set with. Others, such as fractions, would add the characters that they show. */
const FEATURES = ['ccmp', 'locl', 'mark', 'mkmk', 'kern', 'liga', 'calt']
const FONTS = [
  {
    name: 'sans',
    source: '@fontsource-variable/ibm-plex-sans/files/ibm-plex-sans-latin-wght-normal.woff2',
    weights: { min: 400, max: 700 },
  },
  { name: 'mono', source: '@fontsource/ibm-plex-mono/files/ibm-plex-mono-latin-400-normal.woff2', weights: null },
  { name: 'mono-600', source: '@fontsource/ibm-plex-mono/files/ibm-plex-mono-latin-600-normal.woff2', weights: null },
]

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = await mkdtemp(join(tmpdir(), 'mountglass-fonts-'))
try {
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', SUBSETTER], { cwd: folder })
  await writeFile(join(root, 'site', 'styles', 'fallback-fonts.css'), FALLBACK_CSS)
  const { resolve } = createRequire(join(folder, 'package.json'))
  const { default: subset } = await import(pathToFileURL(resolve('subset-font')).href)
  for (const { name, source, weights } of FONTS) {
    const options = {
      targetFormat: 'woff2',
      keepFeatures: FEATURES,
      // A third of the bytes, for screens of few pixels that draw without smoothing.
      noHinting: true,
      ...(weights === null ? {} : { variationAxes: { wght: weights } }),
    }
    const bytes = await subset(await readFile(join(root, 'node_modules', source)), CHARACTERS, options)
    await writeFile(join(root, 'site', 'fonts', `plex-${name}.woff2`), bytes)
    process.stdout.write(`plex-${name}.woff2: ${bytes.length} bytes\n`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

function ascii() {
  return Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).join('')
}
