import { fileURLToPath } from 'node:url'
import { alone } from '../../../scripts/setup/prepare.mjs'
import { buildSite, readBuildState } from '../../../scripts/setup/site.mjs'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

let built: Promise<void> | undefined

/** Builds the site when it is not the one of these sources; test files that run at the same time wait for one another. Looks once a process. */
export function ensureBuilt(): Promise<void> {
  built ??= buildIfStale()
  return built
}

async function buildIfStale(): Promise<void> {
  if (!(await readBuildState(ROOT)).isStale) return
  await alone(
    ROOT,
    async () => {
      if ((await readBuildState(ROOT)).isStale) await buildSite(ROOT, process.execPath)
    },
    () => {},
  )
}
