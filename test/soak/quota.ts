import { setTimeout as sleep } from 'node:timers/promises'
import type { StateStore } from '#core/ports/state-store.ts'
import { type FakeGitHub, startFakeGitHub } from '../support/fake-github/server.ts'
import { pushPayload, signDelivery } from '../support/fake-github/webhooks.ts'
import type { App } from '../support/fake-github/world.ts'
import { createRandom } from '../support/random.ts'
import { createRepositories, type TestRepository } from '../support/repository.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type AtEnd, sideBySide } from './program.ts'

/** Repositories that fleets of processes ask the stand-in about. */
export interface QuotaScene {
  github: FakeGitHub
  app: App
  repositories: readonly TestRepository[]
  /** Settings of every process, besides those of its store. */
  env: Readonly<Record<string, string>>
}

export interface QuotaFigures {
  visits: number
  /** To the API, with those that are answered by "not modified". */
  questions: number
  unchanged: number
  /** Requests of git. */
  git: number
}

const SECRET = 'the secret of the webhooks'
/** Each address is visited so often, at a random process. */
const VISIT_EVERY_SECONDS = 5
/** Of the addresses, one in so many is visited much more often. */
const HOT_EACH = 20
const HOT_VISIT_EVERY_SECONDS = 0.25
/** Of each address: its repository, and its branch. */
export const QUESTIONS_EACH = 2
const TICK_MS = 50
const LOOK_MS = 20
const PATIENCE_MS = 90_000

export async function makeQuotaScene(addresses: number, atEnd: AtEnd): Promise<QuotaScene> {
  const root = await createRepositories()
  atEnd(() => root.remove())
  const github = await startFakeGitHub({ root: root.root })
  atEnd(github.close)
  // What is counted are questions: no limit of the stand-in may hold them back.
  const lifting = setInterval(() => github.limits.reset(), TICK_MS)
  atEnd(async () => clearInterval(lifting))
  const repositories: TestRepository[] = []
  const numbers = Array.from({ length: addresses }, (_, number) => number)
  await sideBySide(
    numbers,
    async number => {
      const repository = await root.create('acme', `tools-${number}`)
      await repository.commit({ 'README.md': `# ${number}\n` })
      repositories[number] = repository
    },
    4,
  )
  const app = github.app('hooks', { owner: github.organization('acme'), webhookSecret: SECRET })
  const token = github.personalToken(github.user('reader'), [])
  const env = {
    ...github.settings({ token }),
    MOUNTGLASS_GITHUB: 'on',
    MOUNTGLASS_GITHUB_WEBHOOK_SECRET: SECRET,
    MOUNTGLASS_INDEXER: 'none',
    MOUNTGLASS_LOG: 'warn',
  }
  return { github, app, repositories, env }
}

export async function startFleet(
  scene: QuotaScene,
  processes: number,
  store: Readonly<Record<string, string>>,
  atEnd: AtEnd,
): Promise<Service[]> {
  const services: Service[] = []
  // One after another: starting costs the processor, and what is measured are questions.
  for (let number = 0; number < processes; number++) {
    const service = await startService({ ...scene.env, ...store })
    atEnd(service.stop)
    services.push(service)
  }
  return services
}

/** Every address is opened at a random process, and then has visitors at random processes for some seconds: what that costs of the quota. */
export async function countQuestions(
  { github, repositories }: QuotaScene,
  services: readonly Service[],
  seconds: number,
): Promise<QuotaFigures> {
  const random = createRandom('visitors', services.length)
  const anyOf = () => services[Math.floor(random() * services.length)] as Service
  github.log.clear()
  await sideBySide(repositories, ({ owner, name }) => visitAt(anyOf(), `${owner}/${name}`), 4)
  const nextAt = repositories.map((_, number) => random() * everySeconds(number) * 1000)
  const visiting = new Set<Promise<void>>()
  let visits = repositories.length
  const startedAt = performance.now()
  for (let passed = 0; passed < seconds * 1000; passed = performance.now() - startedAt) {
    for (const [number, { owner, name }] of repositories.entries()) {
      if ((nextAt[number] ?? 0) > passed) continue
      nextAt[number] = passed + random() * 2 * everySeconds(number) * 1000
      const visit: Promise<void> = visitAt(anyOf(), `${owner}/${name}`).finally(() => visiting.delete(visit))
      visiting.add(visit)
      visits++
    }
    await sleep(TICK_MS)
  }
  await Promise.all(visiting)
  return { visits, ...countedIn(github) }
}

/**
 * Visits each address once at each process, one process after the other.
 *
 * @param states in which the processes share their answers
 */
export async function visitInTurn(
  { github, repositories }: QuotaScene,
  services: readonly Service[],
  states: StateStore,
): Promise<QuotaFigures> {
  github.log.clear()
  for (const service of services) {
    await sideBySide(repositories, ({ owner, name }) => visitAt(service, `${owner}/${name}`), 4)
    // A visitor does not wait until an answer is shared. A process that the store kept waiting shares nothing for some seconds, and counts that once.
    const expected = QUESTIONS_EACH * repositories.length
    await until(async () => (await countShared(states)) >= expected || (await countAlone(services)) > 0)
  }
  return { visits: services.length * repositories.length, ...countedIn(github) }
}

/** Seconds from a webhook, which reaches the first process, until all of them show the new commit of an address that they showed before. */
export async function measureFreshness(
  { github, app }: QuotaScene,
  services: readonly Service[],
  repository: TestRepository,
  text: string,
): Promise<number> {
  const name = `${repository.owner}/${repository.name}`
  const before = await Promise.all(services.map(service => commitAt(service, name)))
  const after = await repository.commit({ 'README.md': text })
  const shown = await github.shown(repository.owner, repository.name)
  const push = { ref: 'refs/heads/main', before: before[0] ?? null, after }
  const { headers, body } = signDelivery(app, 'push', await pushPayload(github.scene, shown, push, null))
  const { status } = await fetch(`${services[0]?.baseUrl}/hooks/github`, { method: 'POST', headers, body })
  if (status >= 300) throw new Error(`the webhook was answered with ${status}`)
  const heardAt = performance.now()
  const until = async (service: Service) => {
    while ((await commitAt(service, name)) !== after) {
      if (performance.now() - heardAt > PATIENCE_MS) throw new Error(`${name} is never fresh`)
      await sleep(LOOK_MS)
    }
  }
  await Promise.all(services.map(until))
  return (performance.now() - heardAt) / 1000
}

/** How often a process could not read or write what all of them share. */
export async function countAlone(services: readonly Service[]): Promise<number> {
  const counts = services.map(async ({ baseUrl }) => {
    const text = await (await fetch(`${baseUrl}/metrics`)).text()
    return Number(/^mountglass_fallbacks_total\{kind="shared_answers"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

async function countShared(states: StateStore): Promise<number> {
  const entries = await Promise.all((await states.list('ctl/answers/')).map(key => states.read(key)))
  return entries.reduce((sum, entry) => sum + ((entry?.value ?? { answers: [] }) as { answers: unknown[] }).answers.length, 0)
}

/** What asks about the token when a process starts is not about an address, and takes nothing of the quota. */
function countedIn({ log }: FakeGitHub): Omit<QuotaFigures, 'visits'> {
  const asked = log.rest.filter(({ path }) => path !== '/rate_limit')
  return {
    questions: asked.length,
    unchanged: asked.filter(({ status }) => status === 304).length,
    git: log.git.length,
  }
}

function everySeconds(number: number): number {
  return number % HOT_EACH === 0 ? HOT_VISIT_EVERY_SECONDS : VISIT_EVERY_SECONDS
}

async function visitAt(service: Service, name: string): Promise<void> {
  await commitAt(service, name)
}

async function commitAt({ baseUrl }: Service, name: string): Promise<string | null> {
  const answer = await fetch(`${baseUrl}/api/v1/mounts/gh/${name}`)
  const body = (await answer.json()) as { commit?: string }
  if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${JSON.stringify(body)}`)
  return body.commit ?? null
}
