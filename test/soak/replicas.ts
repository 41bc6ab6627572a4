import { setTimeout as sleep } from 'node:timers/promises'
import { type FakeGitHub, startFakeGitHub } from '../support/fake-github/server.ts'
import { pushPayload, signDelivery } from '../support/fake-github/webhooks.ts'
import type { App } from '../support/fake-github/world.ts'
import { createRandom } from '../support/random.ts'
import { createRepositories, type TestRepository } from '../support/repository.ts'
import { type Service, startService } from '../support/service.ts'
import { failingShare } from './host-faults.ts'
import type { Place } from './place.ts'
import type { AtEnd } from './program.ts'
import { type SoakReport, secondsSince } from './report.ts'

export interface ReplicasOptions {
  replicas: number
  repositories: number
  /** For so long there are visitors and pushes. */
  seconds: number
  /** Of the host's answers, those that fail. 0: the run is undisturbed, and its token does not expire. */
  share: number
  /** Of the webhooks, those that never come. */
  lost: number
  seed: number
}

export interface ReplicasReport extends SoakReport {
  /** Answers to visitors. */
  answers: number
  /** Of those: that the host cannot be asked, and that a job failed. */
  unavailable: number
  failed: number
  /** Of those: older than what a webhook had told this service `HEARD_SECONDS` before. */
  late: number
  pushes: number
  faults: number
  /** Questions to the API that count against a quota. */
  questions: number
}

/** What a disturbed run may take of the quota, as a part of what an undisturbed one takes. */
export const QUOTA_SHARE = 1.2
const SECRET = 'the secret of the webhooks'
const VISIT_EVERY_MS = 2_000
const PUSH_EVERY_MS = 2_500
/** Shares of the webhooks that come twice, and that come late and so out of order. */
const HOOKS = { twice: 0.2, late: 0.3 }
const LATE_MS = 6_000
/** After a webhook, every replica shows the new commit so soon. */
const HEARD_SECONDS = 5
/** Without one, so soon. */
const FRESH_SECONDS = 60
/** A question that failed is asked again by a visitor five seconds later; so many may fail in a row. */
const RETRY_SECONDS = 30
const PATIENCE_SECONDS = 90

/** What a repository showed, and since when: milliseconds of `performance.now()`. */
interface Version {
  commit: string
  pushedAt: number
  /** When all replicas should know it; `null`: nobody was told. */
  heardAt: number | null
}

interface Watched {
  repository: TestRepository
  address: string
  versions: Version[]
}

/** Visitors at several replicas, while repositories are pushed to and the host fails: nothing may be missing or older than it may be. */
export async function runReplicas(place: Place, options: ReplicasOptions, atEnd: AtEnd): Promise<ReplicasReport> {
  const startedAt = performance.now()
  const repositories = await createRepositories()
  atEnd(() => repositories.remove())
  const github = await startFakeGitHub({ root: repositories.root })
  atEnd(github.close)
  const watched = await Promise.all(
    Array.from({ length: options.repositories }, async (_, number): Promise<Watched> => {
      const repository = await repositories.create('acme', `tools-${number}`)
      const commit = await repository.commit(filesOf(number, 0))
      return { repository, address: `/gh/acme/tools-${number}`, versions: [{ commit, pushedAt: 0, heardAt: 0 }] }
    }),
  )
  const token = github.personalToken(github.user('reader'), [])
  const env = { ...place.env, ...github.settings({ token }), MOUNTGLASS_GITHUB: 'on', MOUNTGLASS_GITHUB_WEBHOOK_SECRET: SECRET }
  const services = await Promise.all(Array.from({ length: options.replicas }, () => startService(env)))
  for (const service of services) atEnd(service.stop)
  const app = github.app('hooks', { owner: github.organization('acme'), webhookSecret: SECRET })

  const run = new Run(options)
  await run.openAll(services, watched)
  if (options.share > 0) github.faults.choose(failingShare(options.share, options.seed, () => void run.report.faults++))
  const asked = github.log.rest.length
  const ending = new AbortController()
  const visiting = services.map(service => run.visit(service, watched, ending.signal))
  const expiring = options.share > 0 ? expire(github, token, options.seconds) : Promise.resolve()
  await run.push(github, app, services, watched)
  await expiring
  ending.abort()
  await Promise.all(visiting)
  run.report.questions = github.log.rest.slice(asked).filter(({ counted }) => counted).length
  github.faults.choose(null)
  await run.settle(services, watched)
  run.report.problems.push(...github.mistakes)
  return { ...run.report, seconds: secondsSince(startedAt) }
}

class Run {
  readonly report: ReplicasReport = {
    answers: 0,
    unavailable: 0,
    failed: 0,
    late: 0,
    pushes: 0,
    faults: 0,
    questions: 0,
    seconds: 0,
    problems: [],
  }
  readonly #options: ReplicasOptions

  constructor(options: ReplicasOptions) {
    this.#options = options
  }

  /** Every replica shows every repository once. */
  async openAll(services: readonly Service[], watched: readonly Watched[]): Promise<void> {
    for (const service of services) for (const { address } of watched) await service.get('mounts', address)
  }

  /** Asks a replica for every repository again and again. */
  async visit(service: Service, watched: readonly Watched[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await Promise.all([...watched.map(one => this.#look(service, one)), sleep(VISIT_EVERY_MS)])
    }
  }

  async #look({ baseUrl }: Service, { address, versions }: Watched): Promise<void> {
    const askedAt = performance.now()
    const answer = await fetch(`${baseUrl}/api/v1/mounts${address}`)
    const body = (await answer.json()) as { commit?: string; index?: { status: string }; error?: { code: string } }
    this.report.answers++
    if (answer.status === 503 && body.error?.code === 'mount.unavailable') this.report.unavailable++
    else if (answer.status !== 200)
      this.report.problems.push(`${address}: ${answer.status} ${JSON.stringify(body).slice(0, 300)}`)
    else this.#judge(address, versions, String(body.commit), askedAt)
    if (body.index?.status === 'failed') this.report.failed++
  }

  /** An answer may be of the newest commit, and of an older one for as long as its successor need not be known. */
  #judge(address: string, versions: readonly Version[], commit: string, askedAt: number): void {
    const shown = versions.findIndex(version => version.commit === commit)
    if (shown < 0) this.report.problems.push(`${address}: ${commit} was never pushed`)
    for (const { pushedAt, heardAt } of versions.slice(shown + 1)) {
      const sinceHeard = heardAt === null ? 0 : (askedAt - heardAt) / 1000
      const sincePushed = (askedAt - pushedAt) / 1000
      if (sinceHeard > HEARD_SECONDS) this.report.late++
      const retries = this.#options.share > 0 ? RETRY_SECONDS : 1
      if (sinceHeard > HEARD_SECONDS + retries)
        this.report.problems.push(`${address}: ${sinceHeard.toFixed(1)} s after a webhook it shows ${commit}`)
      if (sincePushed > FRESH_SECONDS + retries)
        this.report.problems.push(`${address}: ${sincePushed.toFixed(1)} s after a push it shows ${commit}`)
    }
  }

  /** Pushes to one repository after the other; webhooks reach one of the replicas, some of them twice, late and out of order, or never. */
  async push(github: FakeGitHub, app: App, services: readonly Service[], watched: readonly Watched[]): Promise<void> {
    const { seconds, lost, seed } = this.#options
    const random = createRandom('pushes', seed)
    const endsAt = performance.now() + seconds * 1000
    const telling: Promise<void>[] = []
    for (let turn = 1; performance.now() < endsAt; turn++) {
      const one = watched[Math.floor(random() * watched.length)] as Watched
      const before = one.versions.at(-1)?.commit ?? null
      const pushedAt = performance.now()
      const commit = await one.repository.commit(filesOf(watched.indexOf(one), turn))
      const version: Version = { commit, pushedAt, heardAt: null }
      one.versions.push(version)
      this.report.pushes++
      const shown = await github.shown('acme', one.repository.name)
      const payload = await pushPayload(github.scene, shown, { ref: 'refs/heads/main', before, after: commit }, null)
      const { headers, body } = signDelivery(app, 'push', payload)
      const deliver = async () => {
        const service = services[Math.floor(random() * services.length)] as Service
        const { status } = await fetch(`${service.baseUrl}/hooks/github`, { method: 'POST', headers, body })
        if (status >= 300) this.report.problems.push(`a webhook was answered with ${status}`)
        version.heardAt ??= performance.now()
      }
      const chance = random()
      if (chance >= lost) telling.push(chance < lost + HOOKS.late ? sleep(random() * LATE_MS).then(deliver) : deliver())
      if (chance >= 1 - HOOKS.twice) telling.push(sleep(random() * LATE_MS).then(deliver))
      await sleep(PUSH_EVERY_MS)
    }
    await Promise.all(telling)
  }

  /** Once the host is well again, every replica comes to show the newest commit of each repository, indexed. */
  async settle(services: readonly Service[], watched: readonly Watched[]): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_SECONDS * 1000
    for (const { baseUrl } of services) {
      for (const { address, versions } of watched) {
        for (;;) {
          const answer = await fetch(`${baseUrl}/api/v1/mounts${address}`)
          const body = (await answer.json()) as { commit?: string; index?: { status: string } }
          if (body.commit === versions.at(-1)?.commit && body.index?.status === 'ready') break
          if (performance.now() > giveUpAt) {
            this.report.problems.push(`${address} does not come to its newest commit: ${JSON.stringify(body).slice(0, 300)}`)
            break
          }
          await sleep(500)
        }
      }
    }
  }
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
