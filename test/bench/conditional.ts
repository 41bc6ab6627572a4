import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { median, printTable } from './measure.ts'

/** Until the sources are compiled and the caches are filled, every request takes longer. */
const WARM_ROUNDS = 4
const ROUNDS = 7
const REQUESTS = 1_600
const CONNECTIONS = 32
/** Of these, each is alone: nothing is shared by requests that arrive together. */
const LONE_REQUESTS = 400
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
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  try {
    const [{ origin, address }] = (await once(server, 'message')) as [{ origin: string; address: string }]
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
      const { status, headers } = await ask(agent, `${origin}${path}`)
      if (status !== 200 || headers.etag === undefined) throw new Error(`${path} answered ${status}`)
      const costOf = (having: Record<string, string>, expected: number, load: Load) =>
        costOfRequests(server, load, async () => {
          const answer = await ask(agent, `${origin}${path}`, having)
          if (answer.status !== expected) throw new Error(`${path} answered ${answer.status}`)
        })
      const etag = headers.etag
      const measure = async (load: Load, warmRounds: number) => {
        const rounds: { whole: number; unchanged: number }[] = []
        for (let round = 0; round < ROUNDS + warmRounds; round++) {
          const whole = await costOf({}, 200, load)
          const unchanged = await costOf({ 'if-none-match': etag }, 304, load)
          if (round >= warmRounds) rounds.push({ whole, unchanged })
        }
        return rounds
      }
      const shareOf = (rounds: { whole: number; unchanged: number }[]) =>
        median(rounds.map(({ whole, unchanged }) => unchanged / whole))
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
    agent.destroy()
    server.disconnect()
    await once(server, 'exit')
  }
}

interface Load {
  requests: number
  connections: number
}

/** Microseconds of the processor that one of many requests takes in the process that serves. */
async function costOfRequests(server: ChildProcess, { requests, connections }: Load, ask: () => Promise<void>): Promise<number> {
  const before = await usedBy(server)
  let left = requests
  const askInTurn = async () => {
    while (left-- > 0) await ask()
  }
  await Promise.all(Array.from({ length: connections }, askInTurn))
  return ((await usedBy(server)) - before) / requests
}

async function usedBy(server: ChildProcess): Promise<number> {
  server.send('used')
  const [microseconds] = (await once(server, 'message')) as [number]
  return microseconds
}

function ask(
  agent: Agent,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers }, answer => {
      answer.resume().once('end', () => resolve({ status: answer.statusCode, headers: answer.headers }))
      answer.once('error', reject)
    })
    asked.once('error', reject)
    asked.end()
  })
}
