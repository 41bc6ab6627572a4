/** Whether the built site is the one of these sources. */
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runQuietly } from './step.mjs'

/** What the built site depends on, files and folders below the root. */
const SOURCES = [
  'astro.config.mjs',
  'core',
  'docs',
  'examples/handbook',
  'cli/action/README.md',
  'package-lock.json',
  'scripts/setup/index-docs.mjs',
  'scripts/setup/portable-site.mjs',
  'site',
  'tsconfig.json',
  'words',
]
const MARKER = join('dist', '.sources')

/**
 * One hash over names and contents, independent of the order in which the files were found.
 *
 * @param {{ path: string, bytes: Uint8Array }[]} files
 */
export function hashSources(files) {
  const whole = createHash('sha256')
  for (const { path, bytes } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    whole.update(`${path}\0${createHash('sha256').update(bytes).digest('hex')}\n`)
  }
  return whole.digest('hex')
}

/**
 * @param {string | null} marker what the last build left, `null` when there is none
 * @param {string} hash
 */
export function needsBuild(marker, hash) {
  return marker?.trim() !== hash
}

/** @param {string} root the checkout */
export async function readBuildState(root) {
  const hash = hashSources((await Promise.all(SOURCES.map(path => readSource(root, path)))).flat())
  const marker = await readFile(join(root, MARKER), 'utf8').catch(() => null)
  return { hash, isStale: needsBuild(marker, hash) }
}

/**
 * @param {string} root
 * @param {string} path a file, or a folder that stands for all files in it
 * @returns {Promise<{ path: string, bytes: Uint8Array }[]>}
 */
async function readSource(root, path) {
  if (!(await stat(join(root, path))).isDirectory()) return [{ path, bytes: await readFile(join(root, path)) }]
  const names = await readdir(join(root, path))
  return (await Promise.all(names.map(name => readSource(root, `${path}/${name}`)))).flat()
}

/**
 * Marks what a build made with the hash of its sources. The marker goes first and comes back last, so that a build cut short is repeated.
 *
 * @returns {import('astro').AstroIntegration}
 */
export function markBuild() {
  let [root, hash] = ['', '']
  return {
    name: 'mark-build',
    hooks: {
      'astro:config:done': ({ config }) => {
        root = fileURLToPath(config.root)
      },
      'astro:build:start': async () => {
        await rm(join(root, MARKER), { force: true })
        hash = (await readBuildState(root)).hash
      },
      'astro:build:done': () => writeFile(join(root, MARKER), `${hash}\n`),
    },
  }
}

/**
 * Builds the site.
 *
 * @param {string} root the checkout
 * @param {string} node path of the Node that builds
 */
export async function buildSite(root, node) {
  await runQuietly(node, [join(root, 'node_modules', 'astro', 'bin', 'astro.mjs'), 'build'], {
    cwd: root,
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
  })
}
