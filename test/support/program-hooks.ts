/**
 * Has what tests load start processes and threads from the bundle, as the command does. They start in half the time. Without a bundle of these
 * sources, they start from the sources.
 */
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findProgram } from '../../scripts/setup/program.mjs'

const root = dirname(dirname(import.meta.dirname))
const commands = findProgram(root)
if (commands !== null) bundlePrograms(commands)

function bundlePrograms(commands: string): void {
  const sources = ['api', 'indexer', 'site'].map(folder => `${pathToFileURL(root)}/${folder}/`)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!sources.some(folder => url.startsWith(folder)) || !loaded.source) return loaded
      const source = Buffer.from(loaded.source as Uint8Array).toString()
      return source.includes(PLACE) ? { ...loaded, source: source.replace(PROGRAM, named) } : loaded
    },
  })

  function named(source: string, name: string): string {
    const program = new URL(`./${name}.mjs`, commands)
    return existsSync(program) ? `new URL(${JSON.stringify(program.href)})` : source
  }
}

const PLACE = ', import.meta.url)'
const PROGRAM = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g
