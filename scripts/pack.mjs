/**
 * `npm run pack`: makes the packages `mountglass` and `mountglass-pictures` from this checkout and prints the paths of their files, one a line.
 * The same commit gives the same bytes. docs/releasing.md says what is done with them.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32, gunzipSync, gzipSync } from 'node:zlib'
import { joinLicenses, readPackages } from './bundle.mjs'
import { bundleProgram, findPrograms, PROGRAM_FOLDER, programName } from './bundle-program.mjs'
import { formatSbom } from './sbom.mjs'
import { PACKAGES_FILE } from './setup/portable-site.mjs'
import { prepare } from './setup/prepare.mjs'
import { runInForeground } from './setup/runtime.mjs'
import { StepError } from './setup/step.mjs'

/**
 * @typedef {object} Package
 * @property {Record<string, any>} manifest
 * @property {Map<string, Uint8Array>} files by path in the package
 * @property {import('./bundle.mjs').ThirdParty[]} contained the packages inside
 * @property {import('./sbom.mjs').Component[]} beside its direct dependencies, which npm installs with it
 */

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Git ignores it. */
const FOLDER = 'packed'
const PICTURES = 'mountglass-pictures'
const LAUNCHER = 'bin/mountglass.cjs'
/** Folders of sources that name programs. */
const SOURCES = ['api', 'cli', 'core', 'indexer', 'infra', 'site']
/** Files and folders that the program reads. */
const DATA = ['examples/handbook', 'indexer/rules/license/names.jsonl', 'indexer/rules/license/templates.jsonl']
/** Packages with files in the built site that none of its modules imports. */
const SITE_PACKAGES = ['pagefind', '@fontsource-variable/ibm-plex-sans', '@fontsource/ibm-plex-mono']
/** Native code, in a package for each platform, of which npm installs the one that fits. */
const NATIVE = ['@takumi-rs/core', 'sharp']
const EMOJI = '@twemoji/svg'
/** A package that pg imports where its other client is asked for, which is never. */
const NEVER_IMPORTED = 'pg-native'
/** What the package takes over of package.json, where it is there. */
const KEPT_FIELDS = ['license', 'author', 'homepage', 'repository', 'bugs', 'keywords']

/**
 * Makes the packages of a checkout that is set up.
 *
 * @param {string} folder for the packed files; what it held is removed
 * @returns {Promise<string[]>} their paths
 */
export async function pack(folder) {
  const [source, lock] = await Promise.all(['package.json', 'package-lock.json'].map(readJson))
  const commit = readCommit()
  const programs = await findPrograms(
    root,
    listTracked(SOURCES).filter(path => path.endsWith('.ts')),
  )
  const isOfPictures = (/** @type {string} */ path) => path.startsWith('api/pictures/')
  const made = [
    await makeService(
      source,
      programs.filter(path => !isOfPictures(path)),
    ),
    await makePictures(source, programs.filter(isOfPictures)),
  ]
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  return await Promise.all(
    made.map(async ({ manifest, files, contained, beside }) => {
      files.set('package.json', json(manifest))
      files.set('LICENSE', await readFile(join(root, 'LICENSE')))
      files.set('THIRD-PARTY-LICENSES.txt', Buffer.from(joinLicenses(contained)))
      files.set('sbom.cdx.json', Buffer.from(formatSbom(/** @type {any} */ (manifest), commit, [...contained, ...beside], lock)))
      const path = join(folder, `${manifest.name}-${manifest.version}.tgz`)
      await writeFile(path, await archive(files))
      return path
    }),
  )
}

/** The program, the site and their data. @param {any} source package.json @param {string[]} programs @returns {Promise<Package>} */
async function makeService(source, programs) {
  const entries = { start: 'bin/start.mjs', entry: `${PROGRAM_FOLDER}/entry.mjs`, ...byName(programs) }
  const program = await bundleProgram(root, entries)
  const files = new Map([
    ...program.files,
    ...(await readAll(await listFolder('dist/client'))),
    ...(await readAll(listTracked(DATA))),
    [LAUNCHER, await readFile(join(root, 'bin', 'packaged.cjs'))],
    ['README.md', await readFile(join(root, 'README.md'))],
  ])
  requireWhole(program, files, [NEVER_IMPORTED])
  const ofSite = (await readFile(join(root, 'dist', PACKAGES_FILE), 'utf8')).trim().split('\n')
  const paths = [...program.inputs, ...ofSite, ...SITE_PACKAGES.map(name => `node_modules/${name}`)]
  const manifest = { ...manifestOf(source, source.name, source.description), bin: { [source.name]: LAUNCHER } }
  return { manifest, files, contained: await readPackages(root, paths), beside: [] }
}

/** What draws cards and cuts pictures. @param {any} source @param {string[]} programs @returns {Promise<Package>} */
async function makePictures(source, programs) {
  const program = await bundleProgram(root, byName(programs), NATIVE)
  const { FONT_PACKAGES } = await import('../api/pictures/card-fonts.ts')
  const fonts = await Promise.all(
    FONT_PACKAGES.map(({ name, suffix }) =>
      listPackage(name, file => file === 'unicode.json' || file.endsWith(`-${suffix}.woff2`)),
    ),
  )
  const emoji = await listPackage(EMOJI, file => file.endsWith('.svg'))
  const files = new Map([
    ...program.files,
    ...(await readAll([...fonts.flat(), ...emoji])),
    ['README.md', Buffer.from(PICTURES_README)],
  ])
  requireWhole(program, files, NATIVE)
  const inside = [...FONT_PACKAGES.map(({ name }) => name), EMOJI]
  const versions = (/** @type {string[]} */ names) => Object.fromEntries(names.map(name => [name, source.dependencies[name]]))
  const manifest = {
    ...manifestOf(source, PICTURES, 'Cards of links, icons and pictures for mountglass serve.'),
    dependencies: versions([...NATIVE, ...inside].sort()),
    bundleDependencies: [...inside].sort(),
  }
  const folders = inside.map(name => `node_modules/${name}`)
  const beside = await Promise.all(NATIVE.map(name => readComponent(`node_modules/${name}`)))
  return { manifest, files, contained: await readPackages(root, [...program.inputs, ...folders]), beside }
}

const PICTURES_README = `# mountglass-pictures

What \`mountglass serve\` needs to draw the cards of links and to cut icons and pictures: \`npx -p mountglass -p mountglass-pictures mountglass serve\`.
It is used if its version is that of \`mountglass\`. Without it, the service has no pictures.

Fonts: IBM Plex and Noto, under the SIL Open Font License. Emoji: Twemoji, copyright Twitter, Inc. and other contributors, under CC-BY 4.0.
`

/** @param {any} source package.json @param {string} name @param {string} description */
function manifestOf(source, name, description) {
  const kept = KEPT_FIELDS.flatMap(field => (source[field] === undefined ? [] : [[field, source[field]]]))
  const engines = { node: SUPPORTED_NODE }
  return { name, version: source.version, description, ...Object.fromEntries(kept), type: 'module', engines }
}

/** The releases in long-term support, and those after them; bin/packaged.cjs asks for the same. */
const SUPPORTED_NODE = '^24.0.0 || >=26.0.0'

/** @param {string[]} programs @returns {Record<string, string>} */
function byName(programs) {
  return Object.fromEntries(programs.map(path => [programName(path), path]))
}

/**
 * @param {import('./bundle-program.mjs').Program} program
 * @param {ReadonlyMap<string, unknown>} files
 * @param {readonly string[]} dependencies
 * @throws Error when the program reads a file or imports a package that it will not find
 */
function requireWhole({ places, imports }, files, dependencies) {
  const paths = [...files.keys()]
  const lost = places.filter(place => !paths.some(path => path === place || path.startsWith(place.replace(/\/?$/, '/'))))
  if (lost.length > 0) throw new Error(`the package lacks what its program reads: ${lost.join(', ')} (DATA in scripts/pack.mjs)`)
  const foreign = imports.filter(name => !isBuiltin(name) && !dependencies.includes(name))
  if (foreign.length > 0) throw new Error(`the bundle does not contain ${foreign.join(', ')}`)
}

/** @returns {import('./sbom.mjs').Commit} */
function readCommit() {
  const [hash = '', time = ''] = git('log', '-1', '--format=%H %cI').split(' ')
  if (git('status', '--porcelain') !== '') process.stderr.write(`pack: this checkout has changes that ${hash} does not have\n`)
  return { hash, time }
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trim()
}

/** @param {string[]} paths files and folders @returns {string[]} files of the commit, and those to come */
function listTracked(paths) {
  return git('ls-files', '-z', '--cached', '--others', '--exclude-standard', ...paths)
    .split('\0')
    .filter(path => path !== '')
}

/** @param {string} folder below the checkout @returns {Promise<string[]>} its files */
async function listFolder(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep).join('/'))
}

/** The files of a package that are needed, and its description. @param {string} name @param {(path: string) => boolean} isNeeded */
async function listPackage(name, isNeeded) {
  const folder = `node_modules/${name}`
  const paths = await listFolder(folder)
  return paths.filter(path => path === `${folder}/package.json` || isNeeded(path.slice(folder.length + 1)))
}

/** @param {string} path @returns {Promise<any>} */
async function readJson(path) {
  return JSON.parse(await readFile(join(root, path), 'utf8'))
}

/** @param {string[]} paths @returns {Promise<[string, Uint8Array][]>} */
function readAll(paths) {
  return Promise.all(paths.map(async path => /** @type {[string, Uint8Array]} */ ([path, await readFile(join(root, path))])))
}

/** @param {string} folder of a package */
async function readComponent(folder) {
  const { name, version, license } = await readJson(`${folder}/package.json`)
  return { name, version, license, folder }
}

/** @param {unknown} value */
function json(value) {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}

/** A package as npm takes it. @param {ReadonlyMap<string, Uint8Array>} files */
async function archive(files) {
  const { ArchiveWriter } = await import('../core/tar-archive.ts')
  /** @type {Uint8Array[]} */
  const parts = []
  const writer = new ArchiveWriter(crc32, bytes => parts.push(bytes.slice()))
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    writer.add({ name: `package/${path}`, sizeBytes: bytes.length, isExecutable: path === LAUNCHER }, bytes)
  writer.end()
  const packed = gzipSync(gunzipSync(Buffer.concat(parts)), { level: 9 })
  packed[SYSTEM_AT] = UNKNOWN_SYSTEM
  return packed
}

/** In the header of gzip, the system that wrote it. */
const SYSTEM_AT = 9
const UNKNOWN_SYSTEM = 0xff

async function main() {
  const node = await prepare(root, { withDev: true, progress: process.stderr })
  if ((await realpath(node)) !== (await realpath(process.execPath)))
    return await runInForeground(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)])
  for (const path of await pack(join(root, FOLDER))) process.stdout.write(`${path}\n`)
  return 0
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  try {
    process.exitCode = await main()
  } catch (error) {
    if (!(error instanceof StepError)) throw error
    process.stderr.write(`mountglass: ${error.message}\n`)
    process.exitCode = 1
  }
