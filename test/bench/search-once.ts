import { ask } from './search-ask.ts'
import { build, change } from './search-build.ts'
import { collect } from './search-items.ts'
import { job } from './search-job.ts'
import { index } from './search-snapshot.ts'

/**
 * One measurement in a process of its own: `node --expose-gc search-once.ts <mode> <root> <owner> <name> <store> <items> [queries]`
 * prints figures as JSON.
 */
const MODES = { index, collect, build, change, job, ask }

const [mode, root, owner, name, store, itemsFile, queriesFile] = process.argv.slice(2) as [
  keyof typeof MODES,
  string,
  string,
  string,
  string,
  string,
  string,
]
process.stdout.write(JSON.stringify(await MODES[mode]({ root, owner, name, store, itemsFile, queriesFile })))
