/** The program of a package as modules that run on plain Node: sources and the packages that they use, in chunks that its processes share. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { BUNDLE } from './bundle.mjs'

/** Where the modules lie in a package. Astro's server looks for this name among the folders above it. */
export const PROGRAM_FOLDER = 'dist/server'

/** In a source, the URL of a program, a file or a folder beside it, or that of the source itself. */
const IMPORTED_URL = /new URL\('([^']+)', import\.meta\.url\)|import\.meta\.url/g

/**
 * @typedef {object} Program
 * @property {Map<string, Uint8Array>} files by path in the package
 * @property {string[]} inputs paths of the modules inside, below the checkout
 * @property {string[]} places files and folders that modules read beside the bundle, by path in the package
 * @property {string[]} imports packages that are not inside
 */

/**
 * @param {string} root the checkout
 * @param {Record<string, string>} entries sources by name
 * @param {readonly string[]} external packages that stay outside
 * @returns {Promise<Program>}
 */
export async function bundleProgram(root, entries, external = []) {
  /** @type {Set<string>} */
  const places = new Set()
  const outdir = join(root, PROGRAM_FOLDER)
  // The set-up of a checkout installs it.
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    ...BUNDLE,
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([out, path]) => ({ in: path, out })),
    outdir,
    // The built site is read from where its bundle would be.
    allowOverwrite: true,
    chunkNames: 'chunk-[hash]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    external: [...external],
    plugins: [keepPlaces(root, places), keepNames(root), keepVersion(root)],
  })
  const outputs = Object.values(metafile.outputs)
  return {
    files: new Map(outputFiles.map(({ path, contents }) => [`${PROGRAM_FOLDER}/${basename(path)}`, contents])),
    inputs: outputs.flatMap(({ inputs }) => Object.keys(inputs)),
    places: [...places],
    imports: [...new Set(outputs.flatMap(({ imports }) => imports.flatMap(one => (one.external ? one.path : []))))],
  }
}

/** The name in a bundle of a program that runs in a process or a thread of its own. @param {string} path of its source */
export function programName(path) {
  return basename(path, '.ts')
}

/**
 * The sources that are named as programs of other processes or threads.
 *
 * @param {string} root
 * @param {readonly string[]} paths of sources
 */
export async function findPrograms(root, paths) {
  const found = await Promise.all(
    paths.map(async path => {
      const text = await readFile(join(root, path), 'utf8')
      const names = [...text.matchAll(IMPORTED_URL)].flatMap(([, name]) => (name?.endsWith('.ts') ? name : []))
      return names.map(name => posix.join(posix.dirname(path), name))
    }),
  )
  return [...new Set(found.flat())].sort()
}

/**
 * Has a module find files as its source does, from the place that the source would have in the package, and programs beside the bundle.
 *
 * @param {string} root
 * @param {Set<string>} places receives what is found beside the bundle
 * @returns {import('esbuild').Plugin}
 */
function keepPlaces(root, places) {
  return {
    name: 'keep-places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const own = relative(root, path).split(sep).join('/')
        if (own.startsWith('..') || own.includes('node_modules/')) return undefined
        const source = await readFile(path, 'utf8')
        const contents = source.replace(IMPORTED_URL, (_, name) => {
          if (name === undefined) return `${urlFromBundle(own)}.href`
          const place = posix.join(posix.dirname(own), name)
          if (place.endsWith('.ts')) return urlFromBundle(`${PROGRAM_FOLDER}/${programName(place)}.mjs`)
          places.add(place)
          return urlFromBundle(place)
        })
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** @param {string} place in the package */
function urlFromBundle(place) {
  return `new URL('${posix.relative(PROGRAM_FOLDER, place) || '.'}${place.endsWith('/') ? '/' : ''}', import.meta.url)`
}

/**
 * Has `import()` of a package give the names that Node gives: of a CommonJS package in a bundle, it would give the default alone.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
function keepNames(root) {
  const namespace = 'names'
  return {
    name: 'keep-names',
    setup({ initialOptions, onLoad, onResolve }) {
      onResolve({ filter: /^[^./#]/ }, ({ kind, path, importer, namespace: from }) => {
        const isOwn = !importer.includes('node_modules') && !importer.startsWith(join(root, PROGRAM_FOLDER))
        if (kind !== 'dynamic-import' || !isOwn || from === namespace || path.startsWith('node:')) return undefined
        return initialOptions.external?.includes(path) ? undefined : { path, namespace, pluginData: importer }
      })
      onLoad({ filter: /./, namespace }, async ({ path, pluginData: importer }) => {
        const names = Object.keys(await import(path)).filter(name => /^[\w$]+$/.test(name))
        return { contents: `export { ${names.join(', ')} } from '${path}'`, resolveDir: dirname(importer) }
      })
    },
  }
}

/** Of `package.json`, the version is what a program reads. @param {string} root @returns {import('esbuild').Plugin} */
function keepVersion(root) {
  return {
    name: 'keep-version',
    setup({ onLoad }) {
      onLoad({ filter: /package\.json$/ }, ({ path }) => {
        if (path !== join(root, 'package.json')) return undefined
        const { version } = createRequire(path)(path)
        return { contents: JSON.stringify({ version }), loader: 'json' }
      })
    },
  }
}
