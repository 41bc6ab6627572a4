import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { StateStore } from '#core/ports/state-store.ts'
import { carelessStates } from '../support/careless-store.ts'
import { runSteps, STEP } from '../support/oauth-model.ts'
import type { Place } from './place.ts'
import { type SoakReport, secondsSince } from './report.ts'

export interface OAuthOptions {
  seconds: number
  /** Share of writes of which the store says that they failed, although they were done, and of as many that were not done. */
  careless: number
  seed: number
}

export interface OAuthReport extends SoakReport {
  courses: number
  steps: number
}

const LONGEST_COURSE = 200

/** Apps, people and time do whatever comes, on two replicas with a connection each, and the model of grants says what must be alive after each step. */
export async function runOAuth(place: Place, { seconds, careless, seed }: OAuthOptions): Promise<OAuthReport> {
  const startedAt = performance.now()
  const replicas: StateStore[] = []
  for (const replica of [0, 1]) replicas.push(carelessStates((await place.open()).states, careless, `${seed} ${replica}`))
  const problems: string[] = []
  let courses = 0
  let steps = 0
  // People of different courses are different people, since their keys come from another secret.
  const course = fc.asyncProperty(fc.array(STEP, { minLength: 20, maxLength: LONGEST_COURSE, size: 'max' }), async chosen => {
    await runSteps(chosen, replica => replicas[replica] as StateStore, { idKey: randomBytes(32) })
    steps += chosen.length
    courses++
  })
  for (let turn = 0; problems.length === 0 && secondsSince(startedAt) < seconds; turn++) {
    const result = await fc.check(course, { seed: seed * 1_000_000 + turn, numRuns: 1 })
    if (result.failed) problems.push(fc.defaultReportMessage(result) ?? 'the model was left')
  }
  return { courses, steps, problems: [...problems, ...(await place.findDamage())], seconds: secondsSince(startedAt) }
}
