import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StartAttack, sendRequests } from '#test/attack/attack.ts'
import { type Attacked, LARGE_SIZES, makeAttacked, visitFirst } from '#test/attack/attacked.ts'
import { largeRefs } from '#test/attack/large-refs.ts'
import { largeTables } from '#test/attack/large-tables.ts'
import { madeUpNames } from '#test/attack/made-up-names.ts'
import { slowConnections } from '#test/attack/slow-connections.ts'
import { stalledReaders } from '#test/attack/stalled-readers.ts'
import { unknownHashes } from '#test/attack/unknown-hashes.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { callPaths } from './calls.ts'
import { ask, CALL_EVERY_MS, LONGEST_MS, type Visit, type Waited } from './fairness-visitor.ts'
import { printTable } from './measure.ts'
import { keepTo } from './processors.ts'

/**
 * What an ordinary visitor waits while somebody attacks, beside what the same visitor waits without. Attacker and git host have processors of
 * their own, as they would be other machines: what counts is the work that the service does for the attacker.
 */
const SECONDS = 8
const FRESH_EACH = 5
const CROWD = 16
const VISITOR = join(import.meta.dirname, 'fairness-visitor.ts')
const PREFERRED = -10
const TARGET = { ratio: 3, milliseconds: 1_000 }

export async function measureFairness(root: string): Promise<void> {
  const github = await startFakeGitHub({ root })
  const attacked = makeAttacked(root, LARGE_SIZES)
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'error',
  })
  const isApart = service.process.pid !== undefined && keepTo('service', service.process.pid) && keepTo('others', process.pid)
  try {
    const paths = [`/api/v1/mounts${attacked.visited}`, ...(await callPaths(service, attacked.visited))]
    await visitFirst(service, attacked)
    const visit = (seconds: number) =>
      visitFor({ origin: service.baseUrl, paths, fresh: attacked.freshNames.splice(0, FRESH_EACH), seconds })
    await visit(SECONDS / 3)
    const calm = await visit(SECONDS)
    const rows = [rowOf('nothing', calm, calm, '')]
    for (const [name, start] of attacksOn(attacked)) {
      const attack = start(service.baseUrl)
      const waited = await visit(SECONDS).finally(() => attack.stop())
      rows.push(rowOf(name, waited, calm, verdict(waited, calm)))
      await recover(service, paths)
    }
    const where = isApart
      ? 'attacker and git host on processors of their own'
      : 'attacker and git host on the processors of the service'
    printTable(`An ordinary visitor while one client attacks: ${SECONDS} s each, one process, ${where}`, rows)
  } finally {
    keepTo('both', process.pid)
    await service.stop()
    await github.close()
  }
}

/** The first is no attack: it shows what as many ordinary requests cost. */
function attacksOn({ visited, history, large, tables, rawPath }: Attacked): [name: string, start: StartAttack][] {
  return [
    ['an ordinary crowd', origin => sendRequests(origin, CROWD, () => `/api/v1/mounts${visited}`)],
    ['unknown hashes', unknownHashes(history.address, history.lost)],
    ['many large refs', largeRefs(large.address, large.refs)],
    ['made-up names', madeUpNames],
    ['stalled readers', stalledReaders(rawPath)],
    ['slow connections', slowConnections],
    ['large tables', largeTables(tables.address, tables.paths)],
  ]
}

async function visitFor(visit: Visit): Promise<Waited> {
  const child = spawn(process.execPath, [VISITOR], { stdio: ['pipe', 'pipe', 'inherit'] })
  if (child.pid !== undefined) {
    keepTo('service', child.pid)
    prefer(child.pid)
  }
  child.stdin.end(JSON.stringify(visit))
  return JSON.parse(await text(child.stdout)) as Waited
}

/** The visitor stands for another machine: it does not wait for a processor that the service has. Only an administrator may have it so. */
function prefer(pid: number): void {
  try {
    setPriority(pid, PREFERRED)
  } catch {
    // Its waits for the processor count as waits for the service.
  }
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
