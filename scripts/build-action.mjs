/**
 * `npm run build:action`: bundles the Action into `cli/action/dist`, which is committed because GitHub runs the files of the repository.
 * The same sources and lock file give the same bytes.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { BUNDLE, joinLicenses, readPackages } from './bundle.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const DIST = join(root, 'cli', 'action', 'dist')
/** Data files that the bundle reads at run time from its own folder. */
const DATA = ['names.jsonl', 'templates.jsonl'].map(name => join(root, 'indexer', 'rules', 'license', name))
/** Import specifiers left out of the bundle: a workflow has no database, so its driver is never loaded. */
const NOT_BUNDLED = ['./postgres/*']

/**
 * The files of the bundle.
 *
 * @returns {Promise<Map<string, Uint8Array>>} bytes by name
 */
export async function bundleAction() {
  const { outputFiles, metafile } = await build({
    ...BUNDLE,
    absWorkingDir: root,
    entryPoints: [join('cli', 'action', 'main.ts')],
    outfile: 'index.mjs',
    external: NOT_BUNDLED,
  })
  const files = new Map([['index.mjs', outputFiles[0]?.contents ?? new Uint8Array()]])
  for (const path of DATA) files.set(basename(path), await readFile(path))
  const packages = await readPackages(root, Object.keys(metafile.inputs))
  files.set('licenses.txt', Buffer.from(joinLicenses(packages)))
  return files
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await rm(DIST, { recursive: true, force: true })
  await mkdir(DIST)
  for (const [name, bytes] of await bundleAction()) {
    await writeFile(join(DIST, name), bytes)
    process.stdout.write(`cli/action/dist/${name}: ${bytes.length} bytes\n`)
  }
}
