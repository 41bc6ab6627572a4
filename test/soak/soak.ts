/**
 * Kills and stops processes, and breaks connections, for minutes, and looks at whether anything is lost or doubled. Ends with 1 when it is.
 *
 *   npm run soak                        everything
 *   npm run soak -- --only fleet        one part, again for another: race, writers, faults, fleet, replicas, oauth
 *   npm run soak -- --seed 7            another course of things
 *
 * The tests do the same in a short form.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SERVERS } from '../../scripts/servers/servers.mjs'
import { isInstalled, supervise } from '../../scripts/servers/supervise.mjs'
import { printTable } from '../bench/measure.ts'
import { CORPUS, type CorpusRepository, corpusRepositories } from '../support/corpus.ts'
import type { ServerName } from '../support/servers/servers.ts'
import { runFaults } from './faults.ts'
import { runFleet } from './fleet.ts'
import { type OAuthOptions, runOAuth } from './oauth.ts'
import { BAD_LINE, makePlace, type PlaceKind, type Servers } from './place.ts'
import type { AtEnd } from './program.ts'
import { runRace } from './race.ts'
import { QUOTA_SHARE, runReplicas } from './replicas.ts'
import type { SoakReport } from './report.ts'
import { runWriters } from './writers.ts'

const { values: options } = parseArgs({
  options: { only: { type: 'string', multiple: true }, seed: { type: 'string', default: '1' } },
})
const seed = Number(options.seed)
const problems: string[] = []

/** Longer than a lease, and with pg-boss, than it takes it to notice. */
const RACES: readonly { place: PlaceKind; kills: number; pauses: number; pauseSeconds: number }[] = [
  { place: 'disk', kills: 20, pauses: 6, pauseSeconds: 4 },
  { place: 's3', kills: 20, pauses: 6, pauseSeconds: 4 },
  { place: 's3, bad line', kills: 20, pauses: 6, pauseSeconds: 4 },
  { place: 'disk + postgres', kills: 20, pauses: 4, pauseSeconds: 17 },
  { place: 's3 + postgres', kills: 20, pauses: 4, pauseSeconds: 17 },
]
const WRITTEN: readonly PlaceKind[] = ['disk', 's3', 'disk + postgres']
const SHARES = { 'as agreed': BAD_LINE, 'much worse': { errors: 0.3, lostAnswers: 0.1, delays: 0.2 } }

const OAUTH_SECONDS = 20
const AUTHORIZED: readonly (Pick<OAuthOptions, 'careless'> & { place: PlaceKind })[] = [
  { place: 'disk', careless: 0 },
  { place: 's3', careless: 0 },
  { place: 'disk + postgres', careless: 0 },
  { place: 'disk', careless: 0.2 },
]

const REPLICAS = { replicas: 3, repositories: 20, seconds: 300, pushSeconds: 2.5, lost: 0.1, graceSeconds: 1 }

const PARTS: Readonly<Record<string, (servers: Servers, atEnd: AtEnd) => Promise<void>>> = {
  async race(servers) {
    const rows = []
    for (const { place: kind, ...race } of RACES) {
      rows.push(
        await report(kind, atEnd =>
          makePlace(kind, servers, atEnd, seed).then(place => runRace(place, { processes: 8, jobs: 100, ...race, seed }, atEnd)),
        ),
      )
    }
    printTable('8 processes do 100 jobs while they are killed and stand still', rows)
  },

  async writers(servers) {
    const rows = []
    for (const kind of WRITTEN) {
      rows.push(
        await report(kind, atEnd =>
          makePlace(kind, servers, atEnd).then(place =>
            runWriters(place, { writers: 80, atOnce: 8, milliseconds: 2_000, seed }, atEnd),
          ),
        ),
      )
    }
    printTable('80 writers are killed, 8 at a time', rows)
  },

  async faults(servers) {
    const rows = []
    for (const [name, shares] of Object.entries(SHARES)) {
      rows.push(await report(name, atEnd => runFaults(servers, { ...shares, seed, most: 60, corpus: corpusOf(2) }, atEnd)))
    }
    printTable('The API over a bucket whose line is bad', rows)
  },

  async fleet(servers) {
    const row = await report('s3 + postgres', atEnd =>
      runFleet(servers, { addresses: 300, kills: 30, seed, corpus: corpusOf(Number.POSITIVE_INFINITY) }, atEnd),
    )
    printTable('Two replicas and two workers open 300 addresses while the workers are killed', [row])
  },

  async oauth(servers) {
    const rows = []
    for (const { place: kind, careless } of AUTHORIZED) {
      rows.push(
        await report(careless === 0 ? kind : `${kind}, careless`, async atEnd =>
          runOAuth(await makePlace(kind, servers, atEnd), { seconds: OAUTH_SECONDS, careless, seed }),
        ),
      )
    }
    printTable('Apps connect, refresh, are ended and lose access, on two replicas', rows)
  },

  async replicas(servers) {
    const of = async (name: string, share: number) =>
      await report(name, async atEnd =>
        runReplicas(await makePlace('s3 + postgres', servers, atEnd), { ...REPLICAS, share, seed }, atEnd),
      )
    const rows = [await of('undisturbed', 0), await of('a fifth of the answers fails', 0.2)]
    printTable(`Three replicas for ${REPLICAS.seconds} s, with pushes and webhooks, while the host fails`, rows)
    const [undisturbed = 0, disturbed = 0] = rows.map(row => Number(row.questions))
    if (disturbed > undisturbed * QUOTA_SHARE)
      problems.push(`of the quota ${disturbed} instead of ${undisturbed} questions are taken`)
  },
}

await withEnds(async atEnd => {
  const parts = options.only ?? Object.keys(PARTS)
  const unknown = parts.filter(part => !Object.hasOwn(PARTS, part))
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${Object.keys(PARTS).join(', ')}`)
  const missing = Object.entries(SERVERS).filter(([, kind]) => !isInstalled(kind))
  if (missing.length > 0)
    throw new Error(`install the packages first: apt-get install ${missing.flatMap(([, kind]) => kind.packages).join(' ')}`)
  if (CORPUS === null) process.stdout.write('left out: real repositories, since there is no folder ../shared/corpus\n')
  const servers = startedServers(atEnd)
  for (const part of parts) await PARTS[part]?.(servers, atEnd)
})
for (const problem of problems) process.stdout.write(`PROBLEM ${problem}\n`)
process.stdout.write(problems.length === 0 ? '\nnothing lost, nothing doubled, no wrong answer\n' : '')
process.exitCode = problems.length === 0 ? 0 : 1

/** A row of a table. What went wrong is told at the end of everything. */
async function report<Report extends SoakReport>(
  name: string,
  run: (atEnd: AtEnd) => Promise<Report>,
): Promise<Record<string, string | number>> {
  const { problems: found, ...row } = await withEnds(run)
  problems.push(...found.map(problem => `${name}: ${problem}`))
  return { in: name, ...row, problems: found.length } as Record<string, string | number>
}

async function withEnds<Value>(run: (atEnd: AtEnd) => Promise<Value>): Promise<Value> {
  const ends: (() => Promise<void>)[] = []
  try {
    return await run(end => void ends.push(end))
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

function startedServers(atEnd: AtEnd): Servers {
  const started = new Map<ServerName, ReturnType<typeof supervise>>()
  return async name => {
    const server =
      started.get(name) ?? mkdtemp(join(tmpdir(), 'mountglass-server-')).then(folder => supervise(SERVERS[name], folder))
    if (!started.has(name)) atEnd(async () => await (await server).stop())
    started.set(name, server)
    return (await server).env
  }
}

/** The smallest real repositories, so many of them. */
function corpusOf(most: number): { folder: string; repositories: CorpusRepository[] } | null {
  if (CORPUS === null) return null
  const bySize = corpusRepositories(CORPUS).sort((a, b) => a.bytes - b.bytes)
  return { folder: CORPUS, repositories: bySize.slice(0, most) }
}
