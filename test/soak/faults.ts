import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { createInProcessRunner } from '#cli/runners.ts'
import { LEASE_MARGIN, LEASE_SECONDS } from '#core/limits.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import { runLease } from '#indexer/jobs/run-lease.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { openS3Stores } from '#infra/s3/open.ts'
import { systemClock } from '#infra/system/system.ts'
import type { Answer } from '../support/check-answer.ts'
import { type CorpusRepository, commitFolder, unpackCorpus } from '../support/corpus.ts'
import { startFaultyProxy } from '../support/servers/faulty-proxy.ts'
import { s3SettingsOf } from '../support/servers/s3-settings.ts'
import { endpointUrl, type TestApp, testApp } from '../support/test-app.ts'
import { withoutInstants } from '../support/without-instants.ts'
import { contentsOf } from './contents.ts'
import type { Servers } from './place.ts'
import { type AtEnd, sideBySide } from './program.ts'
import { type SoakReport, secondsSince } from './report.ts'
import { type Answers, askEverything } from './requests.ts'
import { type FaultShares, seededFaults } from './seeded-faults.ts'

export interface FaultsOptions extends FaultShares {
  seed: number
  /** See `askEverything`. */
  most: number
  /** Real repositories beside the reference repository. */
  corpus: { folder: string; repositories: readonly CorpusRepository[] } | null
}

export interface FaultsReport extends SoakReport {
  /** Requests whose answers without faults are known, and how often they were asked with faults. */
  requests: number
  /** Of these: pages behind a first one. */
  furtherPages: number
  asked: number
  storeRequests: number
  faults: number
  /** Answers that said that the store cannot be read now. */
  unavailable: number
  jobs: number
  failedJobs: number
}

const HANDBOOK = fileURLToPath(new URL('../../examples/handbook', import.meta.url))
/** Of the same request, or of looks at one job. */
const TRIES = 60

/**
 * Indexes and answers over a bucket whose line is bad. Every answer has to be the one that is given over a store in memory, or to say that
 * the store cannot be read now; and every repository has to be ready at last.
 */
export async function runFaults(servers: Servers, options: FaultsOptions, atEnd: AtEnd): Promise<FaultsReport> {
  const startedAt = performance.now()
  const reference = await testApp({}, { blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore() })
  atEnd(reference.close)
  const addresses = await makeRepositories(reference, options)
  const wanted: Answers = new Map()
  for (const address of addresses) {
    await reference.open(address)
    for (const [url, answer] of await askEverything(reference.get, address, options.most)) wanted.set(url, answer)
  }

  const s3 = await servers('s3')
  const proxy = await startFaultyProxy(s3.AWS_ENDPOINT_URL_S3 ?? '')
  atEnd(proxy.close)
  const stores = await openS3Stores({ ...s3SettingsOf(s3), prefix: randomUUID(), endpoint: proxy.url })
  atEnd(stores.close)
  const { blobs, states } = stores
  // Every request reads everything that it needs from the store.
  const cold = {
    open: (...args: Parameters<ReturnType<typeof createSnapshotReader>['open']>) => createSnapshotReader(blobs).open(...args),
  }
  const app = await testApp({}, { blobs, states, deps: deps => ({ ...deps, snapshots: { ...deps.snapshots, ...cold } }) })
  atEnd(app.close)
  await makeRepositories(app, options)

  let faults = 0
  const decide = seededFaults(options.seed, options)
  let storeRequests = 0
  proxy.befall(request => {
    storeRequests++
    const fault = decide(request)
    if (fault !== null && fault.kind !== 'late') faults++
    return fault
  })
  const report: FaultsReport = {
    requests: wanted.size,
    furtherPages: [...wanted.keys()].filter(url => /[?&]cursor=/.test(url)).length,
    asked: 0,
    storeRequests: 0,
    faults: 0,
    unavailable: 0,
    jobs: 0,
    failedJobs: 0,
    seconds: 0,
    problems: [],
  }
  for (const address of addresses) await untilReady(app, address, report)
  await sideBySide(wanted, ([url, answer]) => askUntilAnswered(app, url, answer, report))
  proxy.befall(() => null)
  // Whatever went wrong before has left nothing behind.
  await sideBySide(wanted, async ([url, answer]) => {
    if (!isSame(await app.get(url), answer)) report.problems.push(`${url}: is wrong for good`)
  })
  return {
    ...report,
    storeRequests,
    faults,
    seconds: secondsSince(startedAt),
  }
}

/** @returns their addresses */
async function makeRepositories({ repositories }: TestApp, { corpus }: FaultsOptions): Promise<string[]> {
  const handbook = { owner: 'mountglass', name: 'handbook' }
  await commitFolder(HANDBOOK, repositories.root, handbook)
  const generated = await repositories.create('acme', 'generated')
  await generated.commit(contentsOf(0, 0))
  for (const repository of corpus?.repositories ?? []) await unpackCorpus(corpus?.folder ?? '', repository, repositories.root)
  return [handbook, generated, ...(corpus?.repositories ?? [])].map(({ owner, name }) => `/local/${owner}/${name}`)
}

function isUnavailable({ status, json }: Answer): boolean {
  return status === 503 && json.error.code === 'skill.unavailable'
}

function isSame({ status, body }: Answer, wanted: { status: number; body: string }): boolean {
  return status === wanted.status && withoutInstants(body) === wanted.body
}

/** Asks for the mount, and has jobs run, until it is ready. */
async function untilReady(app: TestApp, address: string, report: FaultsReport): Promise<void> {
  for (let turn = 0; turn < TRIES; turn++) {
    const answer = await app.get(endpointUrl('mounts', address))
    report.asked++
    if (isUnavailable(answer)) {
      report.unavailable++
      continue
    }
    const { status, errorCode } = answer.json.index ?? {}
    if (answer.status === 200 && status === 'ready') return
    if (answer.status === 200 && status === 'failed' && errorCode === 'index.internal') {
      report.failedJobs++
      app.advanceClock(3_600)
    } else if (answer.status !== 200 || status !== 'indexing') report.problems.push(`${address}: ${answer.status} ${answer.body}`)
    else if (!(await runJob(app, report))) app.advanceClock(LEASE_SECONDS * (1 + LEASE_MARGIN) + 1)
  }
  report.problems.push(`${address}: is not ready after ${TRIES} looks`)
}

/** Runs the job that waits; `false`: there is none, or nobody knows. */
async function runJob({ queue, blobs, states, host }: TestApp, report: FaultsReport): Promise<boolean> {
  const lease = await queue.take('worker').catch(() => null)
  if (lease === null) return false
  report.jobs++
  const runner = createInProcessRunner({ blobs, states, hosts: [host] })
  const log = { info() {}, warn() {}, error() {} }
  // What it cannot tell the queue ends with its lease.
  await runLease({ queue, runner, metrics: NO_METRICS, log }, lease, new AbortController().signal).catch(() => {})
  return true
}

async function askUntilAnswered(
  app: TestApp,
  url: string,
  wanted: { status: number; body: string },
  report: FaultsReport,
): Promise<void> {
  for (let turn = 0; turn < TRIES; turn++) {
    const answer = await app.get(url)
    report.asked++
    if (isSame(answer, wanted)) return
    if (!isUnavailable(answer)) {
      report.problems.push(`${url}: ${answer.status} ${answer.body.slice(0, 500)}`)
      return
    }
    report.unavailable++
  }
  report.problems.push(`${url}: is unavailable ${TRIES} times`)
}
