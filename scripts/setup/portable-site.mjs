/** What a built site must not keep of its checkout, and what cannot be seen in it later. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Astro computes with URLs of its folders at the start of the server. On Windows, such a URL needs a drive. */
const ANY_FOLDER = 'file:///C:/mountglass/'
/**
 * The environment of a build. Where a word of the server's code is the name of a variable, Astro writes the value of that variable into the server,
 * so a build has no others. The key seals what pages pass to server islands, of which there are none: a constant makes all builds equal.
 */
const ENVIRONMENT = { NODE_ENV: 'production', ASTRO_KEY: Buffer.alloc(32).toString('base64') }
/** What a process needs of the system. */
const KEPT_VARIABLES = ['SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR']
/** The packages with code in the built site, a folder a line. */
export const PACKAGES_FILE = '.packages'

/**
 * Has every checkout of a commit build the same site, without the paths of this one, and lists the packages inside.
 *
 * @returns {import('astro').AstroIntegration}
 */
export function portableSite() {
  let root = ''
  /** @type {Set<string>} */
  const modules = new Set()
  return {
    name: 'portable-site',
    hooks: {
      'astro:config:setup': ({ command, config, updateConfig }) => {
        if (command === 'build') setEnvironment()
        root = fileURLToPath(config.root)
        updateConfig({ vite: { plugins: [withoutPaths(root, modules)] } })
      },
      'astro:build:done': async ({ dir }) => {
        const dist = join(fileURLToPath(dir), '..')
        const paths = await readdir(join(dist, 'server'), { recursive: true })
        // Astro writes its manifest when the chunks are complete.
        await Promise.all(paths.filter(path => path.endsWith('.mjs')).map(path => rewrite(join(dist, 'server', path), root)))
        await writeFile(join(dist, PACKAGES_FILE), `${packagesOf(root, modules).join('\n')}\n`)
      },
    },
  }
}

function setEnvironment() {
  for (const name of Object.keys(process.env)) if (!KEPT_VARIABLES.includes(name.toUpperCase())) delete process.env[name]
  Object.assign(process.env, ENVIRONMENT)
}

/** @param {string} root @param {Set<string>} modules receives what chunks consist of @returns {import('vite').Plugin} */
function withoutPaths(root, modules) {
  return {
    name: 'portable-site',
    apply: 'build',
    // Names of chunks are hashes of what they contain.
    renderChunk: (code, chunk) => {
      for (const id of Object.keys(chunk.modules)) modules.add(id)
      return code.includes(root) ? { code: replacePaths(code, root), map: null } : null
    },
  }
}

/** @param {string} path @param {string} root */
async function rewrite(path, root) {
  const code = await readFile(path, 'utf8')
  if (code.includes(root)) await writeFile(path, replacePaths(code, root))
}

/** @param {string} code @param {string} root with a slash at its end */
function replacePaths(code, root) {
  return code.replaceAll(pathToFileURL(root).href, ANY_FOLDER).replaceAll(root, '')
}

/** @param {string} root @param {Iterable<string>} modules */
function packagesOf(root, modules) {
  const paths = [...modules].filter(id => id.startsWith(root)).map(id => relative(root, id))
  const folders = paths.flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [])
  return [...new Set(folders)].sort()
}
