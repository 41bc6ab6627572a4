import { sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/*
 * A program: loads source files and prints the regular expressions that they build of parts meanwhile, as JSON on a line each. Literals are not
 * built.
 */

const Built = globalThis.RegExp
const root = fileURLToPath(new URL('../..', import.meta.url))

globalThis.RegExp = new Proxy(Built, {
  construct(target, args, newTarget) {
    const pattern = Reflect.construct(target, args, newTarget) as RegExp
    const caller = new Error().stack?.split('\n')[2] ?? ''
    const file = /file:\/\/[^:)]+/.exec(caller)?.[0]
    const path = file === undefined ? '' : fileURLToPath(file).slice(root.length).split(sep).join('/')
    if (/^(?:api|core|indexer|infra|site)\//.test(path))
      process.stdout.write(`${JSON.stringify({ file: path, source: pattern.source, flags: pattern.flags })}\n`)
    return pattern
  },
})

for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href)
process.exit()
