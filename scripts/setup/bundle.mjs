/** Bundles the program into `.bundle`, for `program.mjs` to find. A part of the set-up, and of `npm run build`. */
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILDS, RECORD } from './program.mjs'

/** @typedef {import('./program.mjs').ProgramRecord} ProgramRecord */

const COMMANDS = 'bin/commands.ts'
/**
 * What processes and threads are started with. Each list is bundled by itself, and its programs share their modules in many small files. So
 * those that start most often stand alone.
 */
const PROGRAMS = [
  ['api/main.ts'],
  ['indexer/jobs/job-main.ts'],
  [
    COMMANDS,
    'api/pictures/cutter-main.ts',
    'api/pictures/drawer-main.ts',
    'indexer/jobs/job-watchdog.ts',
    'indexer/search/search-thread-main.ts',
    'indexer/snapshot/gzip-thread-main.ts',
    'site/lib/render-worker.ts',
  ],
]
/** Not bundled: packages with native code, packages that read files of their own, and large ones that few deployments load. */
const EXTERNAL = ['@takumi-rs/core', 'sharp', '@fastify/swagger', 'pino', '@aws-sdk/*', 'pg', 'pg-boss']

/** What says how to bundle, and which packages there are. */
const HOW = ['package-lock.json', 'scripts/setup/bundle.mjs']

/** Processes start theirs from the build that they run, so it stays for a while: this many, and those of the last day. */
const KEPT_BUILDS = 5
const KEPT_MS = 24 * 60 * 60 * 1000
/** The clock of files is coarser than that of the process. */
const CLOCK_MS = 50

/**
 * Writes the files of the build, then the record that makes it the current one.
 *
 * @param {string} root the checkout
 */
export async function bundleProgram(root) {
  const startedAt = Date.now()
  const bundles = await Promise.all(PROGRAMS.map(programs => bundle(root, programs)))
  const outputs = bundles.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })),
  )
  const hash = createHash('sha256')
  for (const { name, contents } of outputs) hash.update(`${name} ${contents.length}\n`).update(contents)
  const folder = join(BUILDS, hash.digest('hex').slice(0, 16))
  await mkdir(join(root, folder), { recursive: true })
  for (const { name, contents } of outputs) await writeWhole(join(root, folder, name), contents)

  const inputs = new Set([...HOW, ...bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs))])
  const read = await readTimes(root, [...inputs])
  const written = await readTimes(
    root,
    outputs.map(({ name }) => join(folder, name)),
  )
  // What changed during the build may have been read before.
  const endedAt = Date.now()
  if (read.some(([, , mtimeMs]) => mtimeMs > startedAt - CLOCK_MS && mtimeMs < endedAt + CLOCK_MS)) return
  /** @type {ProgramRecord} */
  const record = { commands: join(folder, builtName(COMMANDS)), files: [...read, ...written] }
  await writeWhole(join(root, RECORD), JSON.stringify(record))
  await dropOldBuilds(root, folder)
}

/** @param {string} root @param {string[]} programs */
async function bundle(root, programs) {
  const { build } = await import('esbuild')
  // As deep as the folder of a build.
  const outdir = join(root, BUILDS, 'build')
  return await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    external: EXTERNAL,
    logLevel: 'silent',
    // Node does not read `tsconfig.json` either.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    plugins: [keepPlaces(outdir)],
    // Bundled CommonJS packages call `require` for modules of Node.
    banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" },
  })
}

/**
 * Has a module find the files of the checkout as its source does, and programs in the build.
 *
 * @param {string} outdir
 * @returns {import('esbuild').Plugin}
 */
function keepPlaces(outdir) {
  return {
    name: 'keep-places',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8')
        const place = relative(outdir, path).replaceAll('\\', '/')
        const contents = source.replace(/new URL\('\.\/([\w-]+\.ts)', import\.meta\.url\)|import\.meta\.url/g, (_, program) =>
          program ? `new URL('./${builtName(program)}', import.meta.url)` : `new URL('${place}', import.meta.url).href`,
        )
        return { contents, loader: 'ts' }
      })
      onResolve({ filter: /^[^./]/ }, ({ kind, path }) => {
        if (kind !== 'dynamic-import') return undefined
        // A package that is seldom needed stays as it is: `import` of a bundled CommonJS package would give no names.
        if (!path.startsWith('#')) return { path, external: true }
        const isProgram = PROGRAMS.flat().includes(path.slice(1))
        return isProgram ? { path: `./${builtName(path)}`, external: true } : undefined
      })
    },
  }
}

/** @param {string} path of a program's source */
function builtName(path) {
  return `${basename(path, '.ts')}.mjs`
}

/** @param {string} root @param {string[]} paths @returns {Promise<ProgramRecord['files']>} */
function readTimes(root, paths) {
  return Promise.all(
    paths.map(async path => {
      const { size, mtimeMs } = await stat(join(root, path))
      return [path, size, mtimeMs]
    }),
  )
}

/** @param {string} path @param {string | Uint8Array} content */
async function writeWhole(path, content) {
  const aside = `${path}.${process.pid}`
  await writeFile(aside, content)
  await rename(aside, path)
}

/** @param {string} root @param {string} current */
async function dropOldBuilds(root, current) {
  await utimes(join(root, current), new Date(), new Date())
  const entries = await readdir(join(root, BUILDS), { withFileTypes: true })
  const builds = await readTimes(
    root,
    entries.filter(entry => entry.isDirectory()).map(({ name }) => join(BUILDS, name)),
  )
  const latest = builds.sort(([, , a], [, , b]) => b - a)
  const old = latest.slice(KEPT_BUILDS).filter(([, , mtimeMs]) => mtimeMs < Date.now() - KEPT_MS)
  for (const [path] of old) await rm(join(root, path), { recursive: true, force: true })
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await bundleProgram(dirname(dirname(import.meta.dirname)))
