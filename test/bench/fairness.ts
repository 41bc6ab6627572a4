import { setTimeout as sleep } from 'node:timers/promises'
import type { StartAttack } from '#test/attack/attack.ts'
import { type Attacked, LARGE_SIZES, makeAttacked } from '#test/attack/attacked.ts'
import { largeRefs } from '#test/attack/large-refs.ts'
import { largeTables } from '#test/attack/large-tables.ts'
import { madeUpNames } from '#test/attack/made-up-names.ts'
import { slowConnections } from '#test/attack/slow-connections.ts'
import { stalledReaders } from '#test/attack/stalled-readers.ts'
import { unknownHashes } from '#test/attack/unknown-hashes.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { callPaths } from './calls.ts'
import { printTable, spread } from './measure.ts'

/** What an ordinary visitor waits while somebody attacks, beside what the same visitor waits without. */
const SECONDS = 8
const FRESH_EACH = 5
/** Longer waits count as this. */
const LONGEST_MS = 20_000
const CALL_EVERY_MS = 40
const POLL_MS = 25
const TARGET = { ratio: 3, milliseconds: 1_000 }

/** Milliseconds. */
interface Waited {
  p50: number
  p99: number
  /** The longest that a repository took from its first request until it was ready. */
  fresh: number
}

export async function measureFairness(root: string): Promise<void> {
  const github = await startFakeGitHub({ root })
  const attacked = makeAttacked(root, LARGE_SIZES)
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'error',
  })
  try {
    const paths = [`/api/v1/mounts${attacked.visited}`, ...(await callPaths(service, attacked.visited))]
    await service.get('mounts', attacked.tables.address)
    const visit = (seconds: number) => visitFor(service, paths, attacked.freshNames.splice(0, FRESH_EACH), seconds)
    await visit(SECONDS / 3)
    const calm = await visit(SECONDS)
    const rows = [rowOf('nothing', calm, calm, '')]
    for (const [name, start] of attacksOn(attacked)) {
      const attack = start(service.baseUrl)
      const waited = await visit(SECONDS).finally(() => attack.stop())
      rows.push(rowOf(name, waited, calm, verdict(waited, calm)))
      await recover(service, paths)
    }
    printTable(`An ordinary visitor while one client attacks: ${SECONDS} s each, on one process`, rows)
  } finally {
    await service.stop()
    await github.close()
  }
}

function attacksOn({ history, large, tables, rawPath }: Attacked): [name: string, start: StartAttack][] {
  return [
    ['unknown hashes', unknownHashes(history.address, history.lost)],
    ['many large refs', largeRefs(large.address, large.refs)],
    ['made-up names', madeUpNames],
    ['stalled readers', stalledReaders(rawPath)],
    ['slow connections', slowConnections],
    ['large tables', largeTables(tables.address, tables.paths)],
  ]
}

/** Calls come evenly, whatever became of those before: the time of one counts from when it was due. */
async function visitFor(service: Service, paths: readonly string[], fresh: readonly string[], seconds: number): Promise<Waited> {
  const times: number[] = []
  const startedAt = performance.now()
  const opened = openFresh(service, fresh, seconds)
  const calls: Promise<void>[] = []
  for (let call = 0; call * CALL_EVERY_MS < seconds * 1000; call++) {
    const dueAt = startedAt + call * CALL_EVERY_MS
    await sleep(Math.max(0, dueAt - performance.now()))
    calls.push(ask(`${service.baseUrl}${paths[call % paths.length]}`).then(() => void times.push(performance.now() - dueAt)))
  }
  await Promise.all(calls)
  return { ...spread(times), fresh: Math.max(...(await opened)) }
}

async function openFresh(service: Service, addresses: readonly string[], seconds: number): Promise<number[]> {
  const times: number[] = []
  for (const address of addresses) {
    const startedAt = performance.now()
    while (!(await isReady(`${service.baseUrl}/api/v1/mounts${address}`)) && performance.now() - startedAt < LONGEST_MS)
      await sleep(POLL_MS)
    times.push(performance.now() - startedAt)
    await sleep((seconds / addresses.length) * 1000)
  }
  return times
}

async function isReady(url: string): Promise<boolean> {
  return /"index":\{"status":"ready"/.test(await ask(url))
}

/** An answer of any status counts: what is measured is how long the visitor waits. */
async function ask(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LONGEST_MS) }).catch(() => null)
  return (await answer?.text().catch(() => '')) ?? ''
}

/** Waits until the work of an attack has ended, so that it does not count against the next one; for `LONGEST_MS` at most. */
async function recover(service: Service, paths: readonly string[]): Promise<void> {
  const endsAt = performance.now() + LONGEST_MS
  for (let calm = 0; calm < 20 && performance.now() < endsAt; ) {
    const startedAt = performance.now()
    await ask(`${service.baseUrl}${paths[0]}`)
    calm = performance.now() - startedAt < CALL_EVERY_MS ? calm + 1 : 0
    await sleep(CALL_EVERY_MS)
  }
}

function rowOf(attack: string, waited: Waited, calm: Waited, target: string): Record<string, string | number> {
  return {
    attack,
    'p50 ms': waited.p50,
    'p99 ms': waited.p99,
    'p99 / calm': waited.p99 / calm.p99,
    'fresh ms': waited.fresh,
    'fresh / calm': waited.fresh / calm.fresh,
    target,
  }
}

function verdict(waited: Waited, calm: Waited): string {
  const isMet = (figure: 'p99' | 'fresh') =>
    waited[figure] <= TARGET.milliseconds && waited[figure] <= TARGET.ratio * calm[figure]
  const target = `<= ${TARGET.ratio}x, <= ${TARGET.milliseconds} ms`
  return isMet('p99') && isMet('fresh') ? target : `${target}: MISSED`
}
