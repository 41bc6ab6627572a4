import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { IndexJob } from '#core/ports/job-queue.ts'
import { JobEntry } from '#core/snapshot/index-state.ts'
import { headerKey, jobKey, queueKey } from '#core/snapshot/store-keys.ts'
import type { Infra } from '#infra/open.ts'
import { createRandom } from '../support/random.ts'
import { readTexts } from '../support/small-snapshots.ts'
import { jobOf } from '../support/store-values.ts'
import { type Counted, findMiscounts } from './counter.ts'
import { textOf } from './job-text.ts'
import type { Place } from './place.ts'
import { type AtEnd, type Program, startProgram, until } from './program.ts'
import { type SoakReport, secondsSince } from './report.ts'

export interface RaceOptions {
  processes: number
  jobs: number
  /** Processes that are killed at some moment of a job, and replaced. */
  kills: number
  /** Processes that stand still in a job. */
  pauses: number
  /** Longer than it takes until another process has the job. */
  pauseSeconds: number
  seed: number
}

/** What happened, in the words of the table. */
export interface RaceReport extends SoakReport {
  jobs: number
  kills: number
  pauses: number
  runs: number
  duplicateFences: number
  doubleManifests: number
  manifestsPresent: number
  /** Jobs of which no document tells any more. Those whose marker alone is gone are done as well: the queue says how that comes. */
  readyDocs: number
  /** Workers that stood still while another took their job, and those of them that noticed. */
  overlapped: number
  noticed: number
  /** Jobs that failed since too many workers died over them, and were asked for again. */
  askedAgain: number
}

const PROGRAM = fileURLToPath(new URL('./race-program.ts', import.meta.url))
const JOB_MS = 300
const HEARING_MS = 50
/** Interval of polling all jobs: each poll is a request to the store. */
const ALL_JOBS_MS = 250
const PATIENCE_SECONDS = 600
const NOTICE_SECONDS = 60

/** Has processes do jobs of one queue while they are killed and stopped, and looks at what they leave. */
export async function runRace(place: Place, options: RaceOptions, atEnd: AtEnd): Promise<RaceReport> {
  const startedAt = performance.now()
  const infra = await place.open()
  const jobs = Array.from({ length: options.jobs }, (_, number) => jobOf(number))
  const workers: Program[] = []
  const start = (): Promise<unknown> => {
    const worker = startProgram(PROGRAM, { args: [nameOf(workers.length), String(JOB_MS)], env: place.env }, atEnd)
    workers.push(worker)
    return worker
      .said(line => line === 'ready')
      .catch(error => {
        if (!place.isUnreliable) throw error
        return start()
      })
  }
  await Promise.all(Array.from({ length: options.processes }, start))
  const visiting = visit(infra, jobs)
  atEnd(visiting.stop)
  const pauses = await disturb(workers, start, options)
  let left = 0
  await until(
    async () => {
      left = (await infra.queue.depth()) + (await failedJobs(infra, jobs)).length
      return visiting.isAllOffered() && left === 0
    },
    PATIENCE_SECONDS,
    () => `${left} jobs are left\n${workers.map(({ lines, errors }) => [...lines.slice(-3), errors].join('\n')).join('\n')}`,
    ALL_JOBS_MS,
  )
  await visiting.stop()
  await Promise.all(workers.map(worker => worker.kill()))
  const seen = await look(infra, jobs, workers, pauses)
  const troubles = place.isUnreliable ? [] : workers.flatMap(troublesOf)
  return {
    ...seen,
    problems: [...seen.problems, ...troubles, ...(await place.findDamage())],
    kills: options.kills,
    pauses: pauses.length,
    askedAgain: visiting.askedAgain(),
    seconds: secondsSince(startedAt),
  }
}

/** Offers all jobs, and those that failed again, as visitors would. */
function visit(infra: Infra, jobs: readonly IndexJob[]) {
  const { queue } = infra
  let isAllOffered = false
  let isOver = false
  let askedAgain = 0
  const visiting = (async () => {
    for (const job of jobs) await queue.offer(job)
    isAllOffered = true
    while (!isOver) {
      for (const job of await failedJobs(infra, jobs)) {
        if ((await queue.offer(job)).status !== 'failed') askedAgain++
      }
      await sleep(1_000)
    }
  })()
  return {
    isAllOffered: () => isAllOffered,
    askedAgain: () => askedAgain,
    async stop() {
      isOver = true
      await visiting
    },
  }
}

/** Those over which so many workers died, or were so late on a busy machine, that nobody takes them before they are asked for again. */
async function failedJobs({ states }: Infra, jobs: readonly IndexJob[]): Promise<IndexJob[]> {
  const entries = await Promise.all(jobs.map(job => readJobEntry(states, job)))
  return jobs.filter((_, index) => entries[index]?.state === 'failed')
}

async function readJobEntry(states: Infra['states'], { repository, commit }: IndexJob): Promise<JobEntry | undefined> {
  return JobEntry.safeParse((await states.read(jobKey(repository, commit)))?.value).data
}

interface Taking {
  commit: string
  fence: number
}

interface Pause extends Taking {
  worker: Program
  /** It stood still while it told the queue of the end: it may have seen before that the job was its own. */
  isEnding: boolean
  isOver: Promise<void>
}

/** Kills and stops workers in the middle of jobs, so many jobs one after the other. */
async function disturb(
  workers: readonly Program[],
  start: () => Promise<unknown>,
  { jobs, kills, pauses, pauseSeconds, seed }: RaceOptions,
): Promise<Pause[]> {
  const random = createRandom('race', seed)
  const deaths = new Map<string, number>()
  const paused: Pause[] = []
  const standing = new Set<Program>()
  const starting: Promise<unknown>[] = []
  const all = kills + pauses
  for (let turn = 0; turn < all; turn++) {
    const isDue = () => tell(workers).takings.length >= (turn * jobs) / all
    let victim: Program | undefined
    await until(
      () => {
        if (!isDue()) return false
        const busy = workers.filter(worker => isVictim(worker, deaths) && !standing.has(worker))
        victim = busy[Math.floor(random() * busy.length)]
        return victim !== undefined
      },
      PATIENCE_SECONDS,
      () => `nobody to disturb, ${turn} times were done`,
    )
    await sleep(random() * JOB_MS)
    const held = victim ? heldBy(victim) : null
    // By now it may have come to the end of its job, which is a moment like others, but no pause overlaps with anything then.
    if (!victim || !held || !isVictim(victim, deaths)) {
      turn--
      continue
    }
    const { commit, fence } = held
    deaths.set(commit, (deaths.get(commit) ?? 0) + 1)
    // The first are the pauses, since their ends take longest to come.
    if (paused.length < pauses) {
      const worker = victim
      standing.add(worker)
      const isOver = standStill(worker, held, pauseSeconds).then(() => void standing.delete(worker))
      // What it said before it stood still. When the time is over that may have come, but is not read yet.
      await sleep(HEARING_MS)
      await nextTurn()
      const isEnding = worker.lines.includes(`ending ${commit} ${fence}`)
      paused.push({ worker, commit, fence, isEnding, isOver })
    } else {
      await victim.kill()
      starting.push(start())
    }
  }
  await Promise.all([...starting, ...paused.map(({ isOver }) => isOver)])
  return paused
}

/** Has a worker stand still, and lets it come to the end of the job that it had: killed before, it could not notice that it lost it. */
async function standStill(worker: Program, { commit, fence }: Taking, seconds: number): Promise<void> {
  await worker.pause(seconds * 1000)
  const hasEnded = () => worker.lines.some(line => line.startsWith(`ended ${commit} ${fence} `))
  // One that does not notice is told of with everything else.
  await until(hasEnded, NOTICE_SECONDS, () => '').catch(() => {})
}

/** One that is in the middle of a job over which not so many died yet that it fails with the next. */
function isVictim(worker: Program, deaths: ReadonlyMap<string, number>): boolean {
  if (!worker.isAlive || worker.isPaused) return false
  const held = heldBy(worker)
  return held !== null && (deaths.get(held.commit) ?? 0) < 2
}

/** The job that a worker has, as far as it said. */
function heldBy({ lines }: Program): Taking | null {
  const last = lines.findLast(line => /^(taken|ended) /.test(line))
  return last?.startsWith('taken ') ? parseTaking(last) : null
}

function parseTaking(line: string): Taking {
  const [, commit = '', fence] = line.split(' ')
  return { commit, fence: Number(fence) }
}

/** What workers said, one by one, of the takings of jobs and of headers. */
export function tell(workers: readonly Pick<Program, 'lines'>[]): {
  takings: Taking[]
  duplicateFences: number
  doubleManifests: number
} {
  const lines = workers.flatMap(worker => worker.lines)
  const taken = lines.filter(line => line.startsWith('taken '))
  const created = lines.filter(line => line.startsWith('header ') && line.endsWith(' created'))
  return {
    takings: taken.map(parseTaking),
    duplicateFences: taken.length - new Set(taken).size,
    doubleManifests: created.length - new Set(created).size,
  }
}

/** What the processes said they did, against what is there. */
async function look(
  { blobs, states }: Infra,
  jobs: readonly IndexJob[],
  workers: readonly Program[],
  pauses: readonly Pause[],
): Promise<Omit<RaceReport, 'kills' | 'pauses' | 'askedAgain' | 'seconds'>> {
  const problems: string[] = []
  let manifestsPresent = 0
  let readyDocs = 0
  for (const { repository, commit } of jobs) {
    const header = await blobs.read(headerKey(repository, commit))
    if (header !== null) manifestsPresent++
    const texts = header && (await readTexts(blobs, repository, commit))
    if (texts?.join() !== textOf(commit))
      problems.push(`the snapshot of ${commit} is ${header ? 'not what was written' : 'missing'}`)
    const record = await readJobEntry(states, { repository, commit })
    if (record === undefined) readyDocs++
    const isWaiting = (await states.read(queueKey(repository, commit))) !== null
    if (isWaiting || record?.state === 'failed') problems.push(`the job ${commit} is ${record?.state ?? 'left'} at the end`)
  }

  const { takings, duplicateFences, doubleManifests } = tell(workers)
  const overlapped = pauses.filter(
    ({ commit, fence, isEnding }) => !isEnding && takings.some(taking => taking.commit === commit && taking.fence > fence),
  )
  const noticed = overlapped.filter(({ worker, commit, fence }) =>
    worker.lines.some(line => line === `ended ${commit} ${fence} lost` || line === `ended ${commit} ${fence} late`),
  )
  if (duplicateFences > 0) problems.push(`${duplicateFences} fences were given twice`)
  if (doubleManifests > 0) problems.push(`${doubleManifests} headers were created twice`)
  if (noticed.length < overlapped.length) problems.push(`of ${overlapped.length} that lost their job ${noticed.length} noticed`)
  problems.push(...(await findMiscounts(states, workers.map(countedBy))))
  return {
    jobs: jobs.length,
    runs: takings.length,
    duplicateFences,
    doubleManifests,
    manifestsPresent,
    readyDocs,
    overlapped: overlapped.length,
    noticed: noticed.length,
    problems,
  }
}

function countedBy({ lines }: Program, index: number): Counted {
  const times = (what: string) => lines.filter(line => line === what).length
  return { name: nameOf(index), acknowledged: times('counted'), unsure: times('unsure') }
}

function nameOf(index: number): string {
  return `worker-${index}`
}

/** What workers met that nobody had in mind for them. On a busy machine a database is not reached in time; the queue then tries again. */
function troublesOf({ lines, errors }: Program): string[] {
  const told = errors.split('\n').filter(line => line !== '' && !/the database cannot be reached|--trace-warnings/.test(line))
  return [...lines.filter(line => line.startsWith('problem ')), ...(told.length === 0 ? [] : [told.join('\n')])]
}
