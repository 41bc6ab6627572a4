/** Compressed copies of the built site's text files, for the server to send as they are. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const COMPRESSIBLE = /\.(?:css|js|json|svg|txt|wasm|xml)$/

/**
 * Writes `<file>.br` and `<file>.gz` beside each file that compresses.
 *
 * @returns {import('astro').AstroIntegration}
 */
export function compressAssets() {
  return {
    name: 'compress-assets',
    hooks: {
      'astro:build:done': async ({ dir }) => {
        const folder = join(fileURLToPath(dir))
        const paths = await readdir(folder, { recursive: true })
        await Promise.all(paths.filter(path => COMPRESSIBLE.test(path)).map(path => compress(join(folder, path))))
      },
    },
  }
}

/** @param {string} path */
async function compress(path) {
  const bytes = await readFile(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
}
