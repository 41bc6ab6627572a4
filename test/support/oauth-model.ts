import fc from 'fast-check'
import { expect } from 'vitest'
import type { OAuthDeps } from '#api/oauth/oauth.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import {
  approved,
  endGrant,
  form,
  isAlive,
  isTold,
  listGrants,
  type OAuthScene,
  openOAuthScene,
  REPOSITORY,
  redeemed,
  refreshed,
  register,
  requested,
  revokeToken,
  signIn,
  signOutAtHost,
} from './oauth-scene.ts'

/** One step of an app, of a person or of time. `pick` chooses among what is there; `replica` is the one that is asked. */
type Step =
  | { kind: 'request' | 'redeem' | 'revoke' | 'end'; pick: number; replica: number }
  | { kind: 'approve' | 'connect'; pick: number; replica: number }
  /** `back`: how many refreshes ago the presented token was the current one. */
  | { kind: 'refresh'; pick: number; replica: number; back: number }
  | { kind: 'wait'; seconds: number }
  | { kind: 'visible' | 'signed_in'; is: boolean }

const place = { pick: fc.nat(99), replica: fc.nat(1) }
const SHORT_WAITS = [1, 30, 61, 200, 301, 901]
const LONG_WAITS = [3_601, 86_400, 29 * 86_400, 31 * 86_400]
/** More often so than not, or else little would happen. */
const is = fc.nat(2).map(chance => chance > 0)

export const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('connect' as const), ...place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('request' as const), ...place }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('approve' as const), ...place }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('redeem' as const), ...place }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('refresh' as const), back: fc.constantFrom(0, 0, 0, 1, 2, 33), ...place }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), ...place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), ...place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(...SHORT_WAITS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(...LONG_WAITS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('visible' as const, 'signed_in' as const), is }) },
)

interface Request {
  app: number
  sealed: string
  madeAt: number
  /** Of the code that was redeemed. */
  family: Family | null
  isSpent: boolean
}

interface Code {
  request: Request
  text: string
  madeAt: number
  ended: number
}

interface Family {
  app: number
  isOver: boolean
  madeAt: number
  refreshedAt: number
  refreshTokens: string[]
  access: { text: string; madeAt: number }[]
}

const DAY = 86_400
const GRACE = 300

/** The rules of `auth.md` 4.3 and 4.7 as a model: what should be alive, in plain words. Times are seconds. */
class Model {
  now = 0
  isVisible = true
  isSignedIn = true
  requests: Request[] = []
  codes: Code[] = []
  families: Family[] = []
  ended = [0, 0]

  isAlive({ isOver, madeAt, refreshedAt }: Family): boolean {
    return !isOver && this.now < madeAt + 90 * DAY && this.now < refreshedAt + 30 * DAY
  }
  isAccess(family: Family, madeAt: number): boolean {
    return this.isAlive(family) && this.now < madeAt + 3_600
  }
  livingOf(app: number): Family[] {
    return this.families.filter(family => family.app === app && this.isAlive(family))
  }
  redeem({ request, madeAt, ended }: Code): boolean {
    if (!this.isSignedIn || this.now >= madeAt + 60) return false
    if (request.isSpent) {
      if (request.family) request.family.isOver = true
      return false
    }
    request.isSpent = true
    return ended === this.ended[request.app]
  }
  refresh(family: Family, back: number): 'new' | 'same' | null {
    if (!this.isSignedIn || !this.isAlive(family)) return null
    if (back === 0) return 'new'
    if (back === 1 && this.now < family.refreshedAt + GRACE) return 'same'
    if (back <= 32) family.isOver = true
    return null
  }
  bound(app: number): void {
    const byRefresh = this.livingOf(app).sort((left, right) => left.refreshedAt - right.refreshedAt)
    for (const family of byRefresh.slice(0, -10)) family.isOver = true
  }
}

/** Runs the steps on two replicas over one store. */
export async function runStepsOver(states: StateStore, steps: readonly Step[]): Promise<void> {
  await runSteps(steps, () => states)
}

/** Runs the steps on both replicas and on the model, and compares after each. @param statesOf the store, as a replica sees it */
export async function runSteps(
  steps: readonly Step[],
  statesOf: (replica: number) => StateStore,
  options: { idKey?: Uint8Array } = {},
): Promise<void> {
  const scene = await openOAuthScene(statesOf, { graceSeconds: GRACE, ...options })
  const apps = [
    scene.clientId,
    await register(scene.first, { redirect_uris: ['http://127.0.0.1:33418/callback'], client_name: 'Other' }),
  ]
  const model = new Model()
  for (const step of steps) {
    await runStep({ scene, apps, model }, step)
    await compare({ scene, apps, model })
  }
}

interface Run {
  scene: OAuthScene
  apps: string[]
  model: Model
}

async function runStep(run: Run, step: Step): Promise<void> {
  const { scene, model } = run
  switch (step.kind) {
    case 'wait':
      scene.clock.advance(step.seconds)
      model.now += step.seconds
      return
    case 'visible':
      model.isVisible = step.is
      if (step.is) scene.host.repositories.set(REPOSITORY, { id: 'gh-1' })
      else scene.host.repositories.delete(REPOSITORY)
      return
    case 'signed_in':
      model.isSignedIn = step.is
      if (step.is) await signIn(scene.first, '583231')
      else await signOutAtHost(scene.first, scene.person)
      return
    case 'connect':
      await STEPS.request(run, step, scene.first)
      await STEPS.approve(run, { ...step, pick: NEWEST }, scene.second)
      return await STEPS.redeem(run, { ...step, pick: NEWEST }, scene.replicas[step.replica] as OAuthDeps)
    default:
      await STEPS[step.kind](run, step as never, scene.replicas[step.replica] as OAuthDeps)
  }
}

type Asked = Extract<Step, { replica: number }>

const STEPS = {
  async request({ scene, apps, model }: Run, { pick }: Asked, deps: OAuthDeps) {
    const app = pick % 4 === 0 ? 1 : 0
    const sealed = await requested(deps, apps[app] as string)
    model.requests.push({ app, sealed, madeAt: model.now, family: null, isSpent: false })
    return scene
  },
  async approve({ scene, model }: Run, { pick }: Asked, deps: OAuthDeps) {
    const request = choose(model.requests, pick, ({ madeAt }) => model.now < madeAt + 900)
    if (!request) return
    const asked = approved(deps, scene.person, request.sealed)
    if (model.now >= request.madeAt + 900) return await expect(asked).rejects.toMatchObject({ code: 'oauth.invalid_request' })
    if (!model.isVisible) return await expect(asked).rejects.toMatchObject({ code: 'oauth.not_visible' })
    model.codes.push({ request, text: await asked, madeAt: model.now, ended: model.ended[request.app] as number })
  },
  async redeem({ apps, model }: Run, { pick }: Asked, deps: OAuthDeps) {
    const code = choose(model.codes, pick, ({ madeAt }) => model.now < madeAt + 60)
    if (!code) return
    const { app } = code.request
    const answer = await redeemed(deps, apps[app] as string, code.text)
    expect(isTold(answer)).toBe(model.redeem(code))
    if (!isTold(answer)) return
    const access = [{ text: answer.access_token, madeAt: model.now }]
    const family = {
      app,
      isOver: false,
      madeAt: model.now,
      refreshedAt: model.now,
      refreshTokens: [answer.refresh_token],
      access,
    }
    code.request.family = family
    model.families.push(family)
    model.bound(app)
  },
  async refresh({ apps, model }: Run, { pick, back }: Extract<Step, { kind: 'refresh' }>, deps: OAuthDeps) {
    const family = choose(model.families, pick, one => model.isAlive(one))
    const presented = family?.refreshTokens.at(-1 - back)
    if (!family || presented === undefined) return
    const expected = model.refresh(family, back)
    const answer = await refreshed(deps, apps[family.app] as string, presented)
    expect(isTold(answer)).toBe(expected !== null)
    if (!isTold(answer)) return
    if (expected === 'same') return expect(answer.refresh_token).toBe(family.refreshTokens.at(-1))
    family.refreshedAt = model.now
    family.refreshTokens.push(answer.refresh_token)
    const living = family.access.filter(({ madeAt }) => model.now < madeAt + 3_600)
    family.access = [{ text: answer.access_token, madeAt: model.now }, ...living].slice(0, 8)
  },
  async revoke({ model }: Run, { pick }: Asked, deps: OAuthDeps) {
    const family = choose(model.families, pick, one => model.isAlive(one))
    if (!family) return
    await revokeToken(deps, form({ token: family.refreshTokens.at(-1) }), null)
    family.isOver = true
  },
  async end({ scene, apps, model }: Run, { pick }: Asked, deps: OAuthDeps) {
    const app = pick % 4 === 0 ? 1 : 0
    const { items } = await listGrants(deps, scene.person)
    const item = items.find(({ client }) => client.name === (app === 0 ? 'An app' : 'Other'))
    expect(item !== undefined, `a grant of ${apps[app]?.slice(0, 9)}`).toBe(model.livingOf(app).length > 0)
    if (!item) return
    await endGrant(deps, scene.person, item.id)
    for (const family of model.livingOf(app)) family.isOver = true
    model.ended[app] = (model.ended[app] as number) + 1
  },
}

const NEWEST = 98

/** One of the latest few; mostly one with which something can still be done. */
function choose<Item>(items: readonly Item[], pick: number, isGood: (item: Item) => boolean): Item | undefined {
  if (pick === NEWEST) return items.at(-1)
  const good = items.filter(isGood)
  const few = (pick % 3 === 0 || good.length === 0 ? items : good).slice(-12)
  return few[Math.floor(pick / 3) % Math.max(1, few.length)]
}

async function compare({ scene, model }: Run): Promise<void> {
  const deps = scene.replicas[model.now % 2] as OAuthDeps
  for (const family of model.families.slice(-14)) {
    for (const { text, madeAt } of family.access) expect(await isAlive(deps, text)).toBe(model.isAccess(family, madeAt))
  }
  const listed = (await listGrants(deps, scene.person)).items.length
  expect(listed).toBe([0, 1].filter(app => model.livingOf(app).length > 0).length)
}
