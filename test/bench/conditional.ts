import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { LightClient } from './light-client.ts'
import { median, printTable } from './measure.ts'

/** Until the sources are compiled and the caches are filled, every request takes longer. */
const WARM_ROUNDS = 6
const ROUNDS = 7
const REQUESTS = 3_000
/** As many as keep the process that serves from waiting for the client. */
const CONNECTIONS = 32
/** Of these, each is alone: nothing is shared by requests that arrive together. */
const LONE_REQUESTS = 500
/** A 304 takes less than this share of the time of the whole answer. */
const TARGET = 0.5

/**
 * Answers, whole and for a client that has them: the time of the processor in the process that serves, without that of the client. Everything is
 * cached. Both kinds are asked for in turn, so that whatever else the machine does is part of both.
 */
export async function measureConditional(): Promise<void> {
  await measureHost('gh', 'of a host on the network')
  await measureHost('local', 'of a folder, whose files are looked at for each')
}

async function measureHost(host: string, what: string): Promise<void> {
  const server = fork(join(import.meta.dirname, 'conditional-once.ts'), [host])
  const [{ origin, address }] = (await once(server, 'message')) as [{ origin: string; address: string }]
  const client = await LightClient.open(origin, CONNECTIONS)
  try {
    const skill = 'skills/topic-0/skill-0/SKILL.md'
    const rows: Record<string, string | number>[] = []
    for (const path of [
      `/api/v1/mounts${address}`,
      `/api/v1/browse${address}?path=docs/topic-4`,
      `/api/v1/find${address}?query=page`,
      `/api/v1/skills${address}?path=${skill}`,
      `/api/v1/files${address}?path=docs/topic-4/page-4.md`,
      `/api/v1/changes${address}?from=main&skill=${skill}`,
    ]) {
      const { headers } = await fetch(`${origin}${path}`)
      const etag = headers.get('etag')
      if (etag === null) throw new Error(`${path} has no tag`)
      const measure = async (load: Load, warmRounds: number) => {
        const rounds: Round[] = []
        for (let round = 0; round < ROUNDS + warmRounds; round++) {
          const whole = await costOf(server, load, () => client.ask(path, { having: {}, status: 200, ...load }))
          const having = { 'if-none-match': etag }
          const unchanged = await costOf(server, load, () => client.ask(path, { having, status: 304, ...load }))
          if (round >= warmRounds) rounds.push({ whole, unchanged })
        }
        return rounds
      }
      const rounds = await measure({ requests: REQUESTS, connections: CONNECTIONS }, WARM_ROUNDS)
      const lone = await measure({ requests: LONE_REQUESTS, connections: 1 }, 0)
      const share = shareOf(rounds)
      rows.push({
        url: path.replace(address, ''),
        '200, µs': median(rounds.map(({ whole }) => whole)),
        '304, µs': median(rounds.map(({ unchanged }) => unchanged)),
        share,
        'share, one by one': shareOf(lone),
        target: share < TARGET ? `< ${TARGET}` : `< ${TARGET}: MISSED`,
      })
    }
    printTable(`Answers and 304s ${what} (CPU of a request in the process that serves, median of ${ROUNDS} rounds)`, rows)
  } finally {
    client.close()
    server.disconnect()
    await once(server, 'exit')
  }
}

/** Microseconds of the processor that a request takes in the process that serves. */
interface Round {
  whole: number
  unchanged: number
}

function shareOf(rounds: readonly Round[]): number {
  return median(rounds.map(({ whole, unchanged }) => unchanged / whole))
}

interface Load {
  requests: number
  connections: number
}

/** Microseconds of the processor that one of many requests takes in the process that serves. */
async function costOf(server: ChildProcess, { requests }: Load, ask: () => Promise<void>): Promise<number> {
  const before = await usedBy(server)
  await ask()
  return ((await usedBy(server)) - before) / requests
}

async function usedBy(server: ChildProcess): Promise<number> {
  server.send('used')
  const [microseconds] = (await once(server, 'message')) as [number]
  return microseconds
}
