import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vitest/config'
import { findProgram } from '../../scripts/setup/program.mjs'

/**
 * Has what tests load start processes and threads from the bundle, as the command does. They start in half the time. Without a bundle of these
 * sources, they start from the sources.
 *
 * @param root the checkout
 */
export function bundledPrograms(root: string): Plugin {
  // While vitest watches, the sources change.
  const commands = process.argv.includes('run') ? findProgram(root) : null
  return {
    name: 'bundled-programs',
    transform(code, id) {
      if (commands === null || !id.endsWith('.ts') || id.startsWith(join(root, 'test'))) return undefined
      return code.replace(/new URL\((['"])\.\/([\w-]+)\.ts\1, import\.meta\.url\)/g, (source, _quote, name) => {
        const program = new URL(`./${name}.mjs`, commands)
        return existsSync(program) ? `new URL('${program}')` : source
      })
    },
  }
}
