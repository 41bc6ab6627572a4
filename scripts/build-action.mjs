/**
 * `npm run build:action`: bundles the Action into `cli/action/dist`, which is committed because GitHub runs the files of the repository.
 * The same sources and lock file give the same bytes.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

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
    absWorkingDir: root,
    entryPoints: [join('cli', 'action', 'main.ts')],
    outfile: 'index.mjs',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external: NOT_BUNDLED,
    // Bundled CommonJS packages call `require` for modules of Node.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  const files = new Map([['index.mjs', outputFiles[0]?.contents ?? new Uint8Array()]])
  for (const path of DATA) files.set(basename(path), await readFile(path))
  files.set('licenses.txt', Buffer.from(await licensesOf(Object.keys(metafile.inputs))))
  return files
}

/**
 * The license texts of the packages in the bundle.
 *
 * @param {string[]} inputs paths of modules
 */
async function licensesOf(inputs) {
  const packages = new Set(
    inputs.flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.split(sep).join('/'))?.[0] ?? []),
  )
  const texts = await Promise.all(
    [...packages].sort().map(async folder => {
      const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
      const text = await licenseText(join(root, folder))
      return `${name} ${version} (${license})\n\n${text.trim()}\n`
    }),
  )
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** @param {string} folder */
async function licenseText(folder) {
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'License', 'LICENCE'])
    try {
      return await readFile(join(folder, name), 'utf8')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  return '(the package contains no license text)'
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await rm(DIST, { recursive: true, force: true })
  await mkdir(DIST)
  for (const [name, bytes] of await bundleAction()) {
    await writeFile(join(DIST, name), bytes)
    process.stdout.write(`cli/action/dist/${name}: ${bytes.length} bytes\n`)
  }
}
