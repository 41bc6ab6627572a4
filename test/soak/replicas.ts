import { setTimeout as sleep } from 'node:timers/promises'
import { type FakeGitHub, startFakeGitHub } from '../support/fake-github/server.ts'
import { pushPayload, signDelivery } from '../support/fake-github/webhooks.ts'
import type { App } from '../support/fake-github/world.ts'
import { createRandom } from '../support/random.ts'
import { createRepositories } from '../support/repository.ts'
import { type Service, startService } from '../support/service.ts'
import { failingShare } from './host-faults.ts'
import type { Place } from './place.ts'
import type { AtEnd } from './program.ts'
import { type SoakReport, secondsSince } from './report.ts'
import { type Shown, Watched } from './watched.ts'

export interface ReplicasOptions {
  replicas: number
  repositories: number
  /** For so long there are visitors and pushes, and longer on a slow machine. */
  seconds: number
  /** From one push to the next. */
  pushSeconds: number
  /** Of the host's answers, those that fail. 0: the run is undisturbed, and its token does not expire. */
  share: number
  /** Of the webhooks, those that never come. */
  lost: number
  /** What is added to each time in which a replica has to show a new commit, where no answer of the host fails. */
  graceSeconds: number
  seed: number
}

export interface ReplicasReport extends SoakReport {
  /** Answers to visitors. */
  answers: number
  /** Of those: that there is no such repository, that the host cannot be asked, and that a job failed. */
  missing: number
  unavailable: number
  failed: number
  /** Of those: older than what a webhook had told this service five seconds before, with and without what failing questions excuse. */
  late: number
  stale: number
  pushes: number
  /** Jobs that ended, and those of them that failed. */
  jobs: number
  failedJobs: number
  faults: number
  /** Questions to the API that count against a quota. */
  questions: number
  /** After the last push, until every replica showed every newest commit with its index. */
  settledSeconds: number
}

/** What a disturbed run may take of the quota, as a part of what an undisturbed one takes. */
export const QUOTA_SHARE = 1.2
const SECRET = 'the secret of the webhooks'
const VISIT_EVERY_MS = 2_000
const LOOK_MS = 250
/** Shares of the webhooks that come twice, and that come late and so out of order. */
const HOOKS = { twice: 0.2, late: 0.3 }
const LATE_MS = 6_000
/** A question that failed is asked again by a visitor five seconds later; so many may fail in a row. */
const RETRY_SECONDS = 30
const PATIENCE_SECONDS = 90

/** Visitors at several replicas, while repositories are pushed to and the host fails: nothing may be missing or older than it may be. */
export async function runReplicas(place: Place, options: ReplicasOptions, atEnd: AtEnd): Promise<ReplicasReport> {
  const startedAt = performance.now()
  const repositories = await createRepositories()
  atEnd(() => repositories.remove())
  const github = await startFakeGitHub({ root: repositories.root })
  atEnd(github.close)
  const watched = await Promise.all(
    Array.from({ length: options.repositories }, async (_, number) => {
      const one = new Watched(await repositories.create('acme', `tools-${number}`))
      await one.push(filesOf(number, 0))
      return one
    }),
  )
  const token = github.personalToken(github.user('reader'), [])
  const env = { ...place.env, ...github.settings({ token }), MOUNTGLASS_GITHUB: 'on', MOUNTGLASS_GITHUB_WEBHOOK_SECRET: SECRET }
  const services = await Promise.all(Array.from({ length: options.replicas }, () => startService(env)))
  for (const service of services) atEnd(service.stop)
  const app = github.app('hooks', { owner: github.organization('acme'), webhookSecret: SECRET })

  const run = new Run(options, services, watched)
  await run.openAll()
  if (options.share > 0) github.faults.choose(failingShare(options.share, options.seed, () => void run.report.faults++))
  const asked = github.log.rest.length
  const ending = new AbortController()
  const visiting = services.map((_, replica) => run.visit(replica, ending.signal))
  const expiring = options.share > 0 ? expire(github, token, options.seconds) : Promise.resolve()
  await run.push(github, app)
  await expiring
  ending.abort()
  await Promise.all(visiting)
  run.report.questions = github.log.rest.slice(asked).filter(({ counted }) => counted).length
  github.faults.choose(null)
  await run.settle()
  return { ...run.end(github.mistakes), seconds: secondsSince(startedAt) }
}

class Run {
  readonly report: ReplicasReport = {
    answers: 0,
    missing: 0,
    unavailable: 0,
    failed: 0,
    late: 0,
    stale: 0,
    pushes: 0,
    jobs: 0,
    failedJobs: 0,
    faults: 0,
    questions: 0,
    settledSeconds: 0,
    seconds: 0,
    problems: [],
  }
  readonly #options: ReplicasOptions
  readonly #services: readonly Service[]
  readonly #watched: readonly Watched[]

  constructor(options: ReplicasOptions, services: readonly Service[], watched: readonly Watched[]) {
    this.#options = options
    this.#services = services
    this.#watched = watched
  }

  /** Every replica shows every repository once. */
  async openAll(): Promise<void> {
    for (const service of this.#services) for (const { address } of this.#watched) await service.get('mounts', address)
  }

  /** Asks a replica for every repository again and again. */
  async visit(replica: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await Promise.all([...this.#watched.map(one => this.#look(replica, one)), sleep(VISIT_EVERY_MS)])
    }
  }

  /** `null`: the answer says that the host cannot be asked now, or is none that may be. */
  async #look(replica: number, watched: Watched): Promise<Shown | null> {
    const askedAt = performance.now()
    const answer = await fetch(`${this.#services[replica]?.baseUrl}/api/v1/mounts${watched.address}`)
    const body = (await answer.json()) as MountBody
    this.report.answers++
    if (answer.status === 404) this.report.missing++
    if (answer.status === 503 && body.error?.code === 'mount.unavailable') this.report.unavailable++
    else if (answer.status !== 200)
      this.report.problems.push(
        `replica ${replica} answers ${watched.address}: ${answer.status} ${JSON.stringify(body).slice(0, 300)}`,
      )
    if (answer.status !== 200) return null
    const { status, errorCode } = body.index ?? {}
    if (status === 'failed') this.report.failed++
    const state = errorCode === undefined ? `${status}` : `${status}, ${errorCode}`
    const shown = { replica, commit: `${body.commit}`, state, askedAt }
    await watched.judge(shown, this.#options.share > 0 ? RETRY_SECONDS : this.#options.graceSeconds)
    return shown
  }

  /** Pushes to one repository after the other; webhooks reach one of the replicas, some of them twice, late and out of order, or never. */
  async push(github: FakeGitHub, app: App): Promise<void> {
    const { seconds, pushSeconds, lost, seed } = this.#options
    const random = createRandom('pushes', seed)
    const telling: Promise<void>[] = []
    // So many on any machine, however long they take.
    for (let turn = 1; turn <= seconds / pushSeconds; turn++) {
      const one = this.#watched[Math.floor(random() * this.#watched.length)] as Watched
      const before = one.newest.commit
      const version = await one.push(filesOf(this.#watched.indexOf(one), turn))
      this.report.pushes++
      const shown = await github.shown('acme', one.repository.name)
      const push = { ref: 'refs/heads/main', before, after: version.commit }
      const { headers, body } = signDelivery(app, 'push', await pushPayload(github.scene, shown, push, null))
      const deliver = async () => {
        const service = this.#services[Math.floor(random() * this.#services.length)] as Service
        const { status } = await fetch(`${service.baseUrl}/hooks/github`, { method: 'POST', headers, body })
        if (status >= 300) this.report.problems.push(`a webhook was answered with ${status}`)
        version.heardAt ??= performance.now()
      }
      const chance = random()
      if (chance >= lost) telling.push(chance < lost + HOOKS.late ? sleep(random() * LATE_MS).then(deliver) : deliver())
      if (chance >= 1 - HOOKS.twice) telling.push(sleep(random() * LATE_MS).then(deliver))
      await sleep(pushSeconds * 1000)
    }
    await Promise.all(telling)
  }

  /** Once the host is well again, every replica comes to show the newest commit of each repository, indexed. */
  async settle(): Promise<void> {
    const startedAt = performance.now()
    const settleOne = async (replica: number, watched: Watched) => {
      for (;;) {
        const shown = await this.#look(replica, watched)
        if (shown?.commit === watched.newest.commit && shown.state === 'ready') return
        if (performance.now() - startedAt > PATIENCE_SECONDS * 1000) {
          const what = shown === null ? 'nothing' : `${shown.commit.slice(0, 8)} (${shown.state})`
          this.report.problems.push(
            `replica ${replica} shows ${what} of ${watched.address} ${PATIENCE_SECONDS} s after the last push, of ${watched.newest.commit.slice(0, 8)}`,
          )
          return
        }
        await sleep(LOOK_MS)
      }
    }
    await Promise.all(this.#services.flatMap((_, replica) => this.#watched.map(one => settleOne(replica, one))))
    this.report.settledSeconds = secondsSince(startedAt)
  }

  end(mistakes: readonly string[]): ReplicasReport {
    const misses = this.#watched.flatMap(one => one.misses)
    const late = this.#watched.reduce((sum, one) => sum + one.late, 0)
    const problems = [...this.report.problems, ...misses, ...mistakes]
    const failedJobs = this.#linesWith('"msg":"indexing failed"').length
    const jobs = this.#linesWith('"msg":"indexed"').length + failedJobs
    // What may explain a problem: failures after which a replica went on.
    const said = problems.length > 0 ? this.#linesWith('mountglass_fallbacks_total') : []
    return { ...this.report, late, stale: misses.length, jobs, failedJobs, problems: [...problems, ...said] }
  }

  /** What the replicas logged. */
  #linesWith(part: string): string[] {
    return this.#services.flatMap((service, replica) => {
      const lines = service.output().split('\n')
      return lines.filter(line => line.includes(part)).map(line => `replica ${replica} said: ${line}`)
    })
  }
}

interface MountBody {
  commit?: string
  index?: { status: string; errorCode?: string }
  error?: { code: string }
}

/** The token is refused for a part of the time, as one that expired and was prolonged. */
async function expire({ world, clock }: FakeGitHub, token: string, seconds: number): Promise<void> {
  const known = world.tokens.get(token)
  if (!known) throw new Error('there is no such token')
  await sleep(seconds * 400)
  known.endsAt = clock.now()
  await sleep(seconds * 200)
  known.endsAt = null
}

function filesOf(number: number, version: number): Record<string, string> {
  return {
    'package.json': '{"license":"MIT"}\n',
    'skills/one/SKILL.md': `---\nname: one\ndescription: The first of ${number}.\n---\nVersion ${version}.\n`,
    'docs/guide.md': `# Guide ${number}\n\nVersion ${version}.\n`,
  }
}
