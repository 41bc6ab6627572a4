import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDatabase, startOwnPostgres } from '#test/support/servers/postgres.ts'
import type { Service } from '#test/support/service.ts'
import type { AtEnd } from '../soak/program.ts'
import {
  countQuestions,
  makeQuotaScene,
  measureFreshness,
  type QuotaFigures,
  type QuotaScene,
  startFleet,
} from '../soak/quota.ts'
import { decimal, marked } from './github-figures.ts'
import { median, printTable } from './measure.ts'

const ADDRESSES = 300
/** Long enough for every answer to expire twice. */
const SECONDS = 130
const FLEETS = [1, 3, 10]
/** Questions of a fleet, as a part of what one process asks. */
const SHARE = 1.1
const PUSHES = 7
const FRESH_SECONDS = 5

/** What fleets of processes ask the API of GitHub, and how soon after a webhook all of their processes show the new commit. */
export async function measureQuota(root: string): Promise<void> {
  const ends: (() => Promise<void>)[] = []
  try {
    const atEnd: AtEnd = end => void ends.push(end)
    const scene = await makeQuotaScene(ADDRESSES, atEnd)
    const rows: Record<string, string | number>[] = []
    const fresh: Record<string, string | number>[] = []
    let alone: QuotaFigures | null = null
    for (const processes of FLEETS) {
      await withFleet(root, scene, processes, {}, async services => {
        const figures = await countQuestions(scene, services, SECONDS)
        alone ??= figures
        rows.push(rowOf(processes, figures, alone))
        fresh.push(await freshnessOf(scene, services, 'a folder'))
      })
    }
    await withDatabase(async url => {
      const settings = { MOUNTGLASS_DATABASE: url }
      await withFleet(
        root,
        scene,
        3,
        settings,
        async services => void fresh.push(await freshnessOf(scene, services, 'PostgreSQL')),
      )
    })
    printTable(`Questions to the API in ${SECONDS} s, ${ADDRESSES} addresses with visitors at random processes`, rows)
    printTable(`Seconds from a webhook at one process to the new commit at all of them (${PUSHES} pushes)`, fresh)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

function rowOf(processes: number, figures: QuotaFigures, alone: QuotaFigures): Record<string, string | number> {
  const { visits, questions, unchanged, git } = figures
  const share = questions / alone.questions
  return {
    processes,
    visits,
    questions,
    'not modified': unchanged,
    git,
    'of one process': marked(decimal(share), share <= SHARE),
    target: `<= ${SHARE}`,
  }
}

async function freshnessOf(
  scene: QuotaScene,
  services: readonly Service[],
  store: string,
): Promise<Record<string, string | number>> {
  const seconds: number[] = []
  for (const [turn, repository] of scene.repositories.slice(0, PUSHES).entries())
    seconds.push(await measureFreshness(scene, services, repository, `# ${services.length} ${store} ${turn}\n`))
  const most = Math.max(...seconds)
  return {
    processes: services.length,
    'state store': store,
    'median s': median(seconds),
    'most s': marked(decimal(most), most <= FRESH_SECONDS),
    target: `<= ${FRESH_SECONDS}`,
  }
}

async function withFleet(
  root: string,
  scene: QuotaScene,
  processes: number,
  settings: Readonly<Record<string, string>>,
  run: (services: readonly Service[]) => Promise<void>,
): Promise<void> {
  const ends: (() => Promise<void>)[] = []
  const folder = await mkdtemp(join(root, 'quota-'))
  try {
    const store = { MOUNTGLASS_STORE: `disk:${folder}`, ...settings }
    await run(await startFleet(scene, processes, store, end => void ends.push(end)))
  } finally {
    await Promise.all(ends.map(end => end()))
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function withDatabase(run: (url: string) => Promise<void>): Promise<void> {
  const server = await startOwnPostgres()
  try {
    await run((await createDatabase(server.url)).url)
  } finally {
    await server.remove()
  }
}
