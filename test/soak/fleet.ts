import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { StateStore } from '#core/ports/state-store.ts'
import { JobEntry } from '#core/snapshot/index-state.ts'
import { descendantsOf } from '#indexer/jobs/processes.ts'
import type { Infra } from '#infra/open.ts'
import { type Answer, checkAnswer } from '../support/check-answer.ts'
import { type CorpusRepository, unpackCorpus } from '../support/corpus.ts'
import { startFakeGitHub } from '../support/fake-github/server.ts'
import { isAlive } from '../support/is-alive.ts'
import { createRandom } from '../support/random.ts'
import { createRepositories } from '../support/repository.ts'
import { type Service, startService } from '../support/service.ts'
import { endpointUrl } from '../support/test-app.ts'
import { restsBetweenLooks } from '../support/until.ts'
import { withoutInstants } from '../support/without-instants.ts'
import { contentsOf } from './contents.ts'
import { makePlace, type Servers } from './place.ts'
import { type AtEnd, type Program, sideBySide, startProgram, until } from './program.ts'
import { type SoakReport, secondsSince } from './report.ts'
import { type Answers, askEverything, askShortly, type Get } from './requests.ts'

export interface FleetOptions {
  addresses: number
  /** Workers that are killed, and started again. */
  kills: number
  seed: number
  /** Real repositories beside the generated ones. */
  corpus: { folder: string; repositories: readonly CorpusRepository[] } | null
}

export interface FleetReport extends SoakReport {
  addresses: number
  kills: number
  /** Jobs that the workers had in hand when they were killed. */
  interrupted: number
  /** Answers while the fleet was indexing, each of them checked. */
  answers: number
  /** Of those: that the store cannot be read now, and that a job has failed. */
  unavailable: number
  failed: number
  /** Answers of each replica that were compared with those of a process of its own. */
  compared: number
}

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const BASE_URL = 'https://fleet.test'
const FORMS = ['', '@v0', '/skills', '@v0/docs']
const HOSTS = ['local', 'gh']
const VISITORS = 8
const LONGEST_REST_MS = 1_000
const PATIENCE_SECONDS = 600
/** Time for the processes of a killed worker to end. */
const GOING_SECONDS = 120
/** Addresses that are asked for everything; the others for one answer of each kind. */
const LOOKED_AT_WHOLLY = 3

/**
 * Opens addresses at two replicas of the API while two workers are killed again and again, over a bucket and a database, and compares what
 * they answer in the end with a process that does everything by itself on a disk.
 */
export async function runFleet(servers: Servers, options: FleetOptions, atEnd: AtEnd): Promise<FleetReport> {
  const startedAt = performance.now()
  const { root, addresses, hidden } = await makeAddresses(options, atEnd)
  const github = await startFakeGitHub({ root })
  atEnd(github.close)
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-soak-'))
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const place = await makePlace('s3 + postgres', servers, atEnd)
  const shared = {
    ...github.settings({ token: github.personalToken(github.user('reader'), []) }),
    MOUNTGLASS_GITHUB: 'on',
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_BASE_URL: BASE_URL,
    MOUNTGLASS_LOG: 'info',
    MOUNTGLASS_KEYS: place.env.MOUNTGLASS_KEYS ?? '',
    TMPDIR: folder,
  }
  const env = { ...place.env, ...shared }
  const serve = async (settings: Record<string, string>) => {
    const service = await startService(settings)
    atEnd(service.stop)
    return service
  }
  const start = () => startProgram(LAUNCHER, { args: ['work', '--concurrency', '2'], env, linesOn: 'stderr' }, atEnd)
  const workers = [start(), start()]
  const [single, ...replicas] = await Promise.all([
    serve(shared),
    serve({ ...env, MOUNTGLASS_INDEXER: 'none' }),
    serve({ ...env, MOUNTGLASS_INDEXER: 'none' }),
  ])

  const infra = await place.open()
  const problems: string[] = []
  const counts = { answers: 0, unavailable: 0, failed: 0, ready: 0 }
  const openAt = (services: readonly Service[]) =>
    sideBySide(addresses, address => open(services, address, counts, problems), VISITORS)
  const killing = killWorkers(workers, start, options, () => counts.ready, infra)
  // Both at once: what waits for the lease of a worker that was killed leaves the machine to the other.
  await Promise.all([
    openAt(replicas),
    killing.done,
    sideBySide(addresses, address => open([single], address, { ...counts }, problems)),
  ])

  const compared = await compare(single, replicas, [...addresses, ...hidden], problems)
  await until(
    async () => (await infra.queue.depth()) === 0,
    PATIENCE_SECONDS,
    () => 'there are still jobs in the queue',
  )
  const left = await killing.leftAlive()
  if (left.length > 0) problems.push(`of the workers that were killed these processes live: ${left.join(', ')}`)
  problems.push(...github.mistakes, ...(await place.findDamage()))
  return {
    addresses: addresses.length,
    kills: options.kills,
    interrupted: killing.interrupted(),
    answers: counts.answers,
    unavailable: counts.unavailable,
    failed: counts.failed,
    compared,
    seconds: secondsSince(startedAt),
    problems,
  }
}

/** Repositories that both hosts have, and ways to name something in them. `hidden`: what nobody is shown. */
async function makeAddresses(
  { addresses: wanted, seed, corpus }: FleetOptions,
  atEnd: AtEnd,
): Promise<{ root: string; addresses: string[]; hidden: string[] }> {
  const repositories = await createRepositories()
  atEnd(() => repositories.remove())
  const names: string[] = []
  for (const repository of corpus?.repositories ?? []) {
    await unpackCorpus(corpus?.folder ?? '', repository, repositories.root)
    names.push(`${repository.owner}/${repository.name}`)
  }
  const addresses = names.flatMap(name => HOSTS.map(host => `/${host}/${name}`))
  for (let number = 0; addresses.length < wanted; number++) {
    const { owner, name, commit, tag } = await repositories.create('acme', `tools-${number}`)
    await tag('v0', await commit(contentsOf(number, 0)))
    await commit(contentsOf(number, 1))
    addresses.push(...HOSTS.flatMap(host => FORMS.map(form => `/${host}/${owner}/${name}${form}`)))
  }
  const random = createRandom('fleet', seed)
  const inAnyOrder = addresses.slice(0, wanted).map(address => ({ address, place: random() }))
  return {
    root: repositories.root,
    addresses: inAnyOrder.sort((a, b) => a.place - b.place).map(({ address }) => address),
    hidden: HOSTS.flatMap(host => [
      `/${host}/acme/nothing`,
      `/${host}/acme/tools-0@no-such-branch`,
      `/${host}/acme/tools-0/no/such/folder`,
    ]),
  }
}

function getFrom({ baseUrl }: Service): Get {
  return async url => {
    const response = await fetch(`${baseUrl}${url}`)
    const headers = Object.fromEntries(response.headers)
    return checkAnswer(url, 'GET', { status: response.status, headers, body: await response.text() })
  }
}

interface Counts {
  answers: number
  unavailable: number
  failed: number
  ready: number
}

/** Asks the services in turn until each of them says that the address is ready. */
async function open(services: readonly Service[], address: string, counts: Counts, problems: string[]): Promise<void> {
  const waiting = new Set(services)
  // What else a page asks for, before anything is there.
  const others = [endpointUrl('browse', address), endpointUrl('find', address, { query: 'skill' })]
  for await (const _ of restsBetweenLooks(PATIENCE_SECONDS * 1000, LONGEST_REST_MS)) {
    for (const service of waiting) {
      const get = getFrom(service)
      const other = others.shift()
      for (const url of [endpointUrl('mounts', address), ...(other ? [other] : [])]) {
        const answer = await get(url)
        counts.answers++
        const state = stateOf(answer)
        if (state === 'unavailable') counts.unavailable++
        else if (state === 'failed') counts.failed++
        else if (state === null) problems.push(`${url}: ${answer.status} ${answer.body.slice(0, 500)}`)
        if (url.startsWith('/api/v1/mounts') && (state === 'ready' || state === null)) waiting.delete(service)
      }
    }
    if (waiting.size === 0) break
  }
  if (waiting.size > 0) problems.push(`${address} is not ready after ${PATIENCE_SECONDS} s`)
  counts.ready++
}

/** What an answer says of the index; `null`: something that it must not say. */
function stateOf({ status, json }: Pick<Answer, 'status' | 'json'>): 'ready' | 'indexing' | 'failed' | 'unavailable' | null {
  if (status === 503) return json.error.code === 'skill.unavailable' ? 'unavailable' : null
  if (status !== 200) return null
  const { status: state, errorCode } = json.index ?? json
  // More processes died over it than a job may kill.
  if (state === 'failed') return errorCode === 'index.internal' ? 'failed' : null
  return state === 'ready' || state === 'indexing' ? state : null
}

/** Kills a worker whenever so many more addresses are ready, the first one as soon as there is a job. */
function killWorkers(
  workers: Program[],
  start: () => Program,
  { addresses, kills, seed }: FleetOptions,
  ready: () => number,
  { states }: Infra,
): { done: Promise<void>; interrupted(): number; leftAlive(): Promise<number[]> } {
  const random = createRandom('kills', seed)
  const families: number[] = []
  let interrupted = 0
  const done = (async () => {
    for (let turn = 0; turn < kills; turn++) {
      const isDue = () => ready() >= (turn * addresses) / (kills + 1)
      const able = () => workers.filter(({ lines }) => lines.some(line => line.includes('job process ready')))
      await until(
        () => isDue() && able().length > 0,
        PATIENCE_SECONDS,
        () =>
          `${turn} workers were killed; the others say\n${workers.map(({ lines, errors }) => [...lines.slice(-5), errors].join('\n')).join('\n')}`,
      )
      await sleep(random() * 500)
      const among = able()
      const victim = among[Math.floor(random() * among.length)]
      if (!victim) continue
      const held = await countHeld(states, victim)
      // A worker without a job shows nothing: the first that is killed has one, if the others leave it any.
      if (interrupted + held === 0 && ready() < addresses) {
        turn--
        continue
      }
      interrupted += held
      families.push(...descendantsOf(victim.pid))
      await victim.kill()
      workers.splice(workers.indexOf(victim), 1, start())
    }
  })()
  return {
    done,
    interrupted: () => interrupted,
    async leftAlive() {
      const left = () => families.filter(isAlive)
      await until(
        () => left().length === 0,
        GOING_SECONDS,
        () => '',
      ).catch(() => {})
      return left()
    },
  }
}

/** Jobs that a worker has at this moment. */
async function countHeld(states: StateStore, { pid }: Program): Promise<number> {
  const records = await Promise.all((await states.list('ctl/job/')).map(async key => (await states.read(key))?.value))
  return records.filter(
    record => JobEntry.safeParse(record).data?.state === 'leased' && JSON.stringify(record).includes(`:${pid}:`),
  ).length
}

/** @returns how many answers of each replica were compared */
async function compare(
  single: Service,
  replicas: readonly Service[],
  addresses: readonly string[],
  problems: string[],
): Promise<number> {
  let compared = 0
  await sideBySide([...addresses.entries()], async ([index, address]) => {
    const wanted: Answers =
      index < LOOKED_AT_WHOLLY ? await askEverything(getFrom(single), address, 10) : await askShortly(getFrom(single), address)
    for (const [url, { status, body }] of wanted) {
      compared++
      for (const replica of replicas) {
        const answer = await getFrom(replica)(url)
        if (answer.status !== status || withoutInstants(answer.body) !== body)
          problems.push(`${url}: ${answer.status} ${answer.body.slice(0, 300)}, and by itself ${status} ${body.slice(0, 300)}`)
      }
    }
  })
  return compared
}
