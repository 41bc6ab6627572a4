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
 * cached. All kinds are asked for in turn, so that whatever else the machine does is part of each.
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
      const row = await measurePath({ process: server, client }, path, (await fetch(`${origin}${path}`)).headers)
      rows.push({ url: path.replace(address, ''), ...row })
    }
    printTable(`Answers and 304s ${what} (CPU of a request in the process that serves, median of ${ROUNDS} rounds)`, rows)
  } finally {
    client.close()
    await ended(server)
  }
}

/** A process that serves, and connections to it. */
interface Served {
  process: ChildProcess
  client: LightClient
}

/** @param headers of a whole answer */
async function measurePath(ours: Served, path: string, headers: Headers): Promise<Record<string, string | number>> {
  const etag = headers.get('etag')
  if (etag === null) throw new Error(`${path} has no tag`)
  const sent = Object.fromEntries([...headers].filter(([name]) => !WITH_BODY_OR_BY_NODE.includes(name)))
  const bare = await startBare(sent)
  const having = { 'if-none-match': etag }
  const measure = async (load: Load, warmRounds: number) => {
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS + warmRounds; round++) {
      const whole = await costOf(ours, load, path, { having: {}, status: 200 })
      const unchanged = await costOf(ours, load, path, { having, status: 304 })
      const limit = await costOf(bare, load, path, { having, status: 304 })
      if (round >= warmRounds) rounds.push({ whole, unchanged, limit })
    }
    return rounds
  }
  try {
    const rounds = await measure({ requests: REQUESTS, connections: CONNECTIONS }, WARM_ROUNDS)
    const lone = await measure({ requests: LONE_REQUESTS, connections: 1 }, 0)
    const share = shareOf(rounds)
    return {
      '200, µs': median(rounds.map(({ whole }) => whole)),
      '304, µs': median(rounds.map(({ unchanged }) => unchanged)),
      'bare 304, µs': median(rounds.map(({ limit }) => limit)),
      share,
      'share, one by one': shareOf(lone),
      target: `< ${TARGET}${share < TARGET ? '' : ': MISSED'}`,
    }
  } finally {
    bare.client.close()
    await ended(bare.process)
  }
}

async function startBare(headers: Record<string, string>): Promise<Served> {
  const server = fork(join(import.meta.dirname, 'bare-unchanged.ts'), [JSON.stringify(headers)])
  const [{ origin }] = (await once(server, 'message')) as [{ origin: string }]
  return { process: server, client: await LightClient.open(origin, CONNECTIONS) }
}

/** Of a whole answer: those of its body, and those that Node adds to each by itself. */
const WITH_BODY_OR_BY_NODE = ['content-type', 'content-length', 'connection', 'keep-alive', 'date']

async function ended(server: ChildProcess): Promise<void> {
  server.disconnect()
  await once(server, 'exit')
}

/** Microseconds of the processor that a request takes in the process that serves. */
interface Round {
  whole: number
  unchanged: number
  /** Of the bare server's 304. */
  limit: number
}

function shareOf(rounds: readonly Round[]): number {
  return median(rounds.map(({ whole, unchanged }) => unchanged / whole))
}

interface Load {
  requests: number
  connections: number
}

/** Microseconds of the processor that one of many requests takes in the process that serves. */
async function costOf(
  { process: server, client }: Served,
  load: Load,
  path: string,
  expected: { having: Record<string, string>; status: number },
): Promise<number> {
  const before = await usedBy(server)
  await client.ask(path, { ...expected, ...load })
  return ((await usedBy(server)) - before) / load.requests
}

async function usedBy(server: ChildProcess): Promise<number> {
  server.send('used')
  const [microseconds] = (await once(server, 'message')) as [number]
  return microseconds
}
