import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Spread } from '#test/bench/measure.ts'
import type { CorpusRepository } from '#test/support/corpus.ts'
import type { Unit } from './metrics.ts'

export const ENGINE_NAMES = ['mountglass', 'minisearch', 'fts5', 'pagefind'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

export interface EngineRun {
  items: number
  buildSeconds: number
  objects: number
  /** As stored. */
  bundleBytes: number
  /** Above what the process had before: with one query answered, and with all. */
  liveMegabytes: { atOpen: number; afterQueries: number }
  warmMilliseconds: Spread
  /** A new reader and one query; every read takes 15 ms and its bytes. */
  coldMilliseconds: Spread
  /** Medians of the cold queries. */
  coldReads: number
  coldBytes: number
  /** The units found, by query. */
  ranked: Unit[][]
}

const run = promisify(execFile)

/** Asks one engine all queries over one repository, in a process of its own. */
export async function runEngine(
  name: EngineName,
  root: string,
  { owner, name: repository, directory }: CorpusRepository,
  queries: readonly string[],
  scratch: string,
): Promise<EngineRun> {
  const queriesFile = join(scratch, `${directory}.json`)
  await writeFile(queriesFile, JSON.stringify(queries))
  const script = join(import.meta.dirname, 'run-engine.ts')
  const folder = join(scratch, `${directory}-${name}`)
  const language = directory.endsWith('-ja') ? 'ja' : 'en'
  const { stdout } = await run(
    process.execPath,
    [
      '--expose-gc',
      '--disable-warning=ExperimentalWarning',
      script,
      name,
      root,
      owner,
      repository,
      language,
      queriesFile,
      folder,
    ],
    { maxBuffer: 2 ** 28 },
  )
  return JSON.parse(stdout) as EngineRun
}
