import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { runStepsOver, STEP } from '#test/support/oauth-model.ts'

const STEPS = 10_000

test(`two replicas keep to the model of grants for ${STEPS} steps`, async () => {
  let steps = 0
  for (let seed = 1; steps < STEPS; seed++) {
    const property = fc.asyncProperty(fc.array(STEP, { minLength: 20, maxLength: 200, size: 'max' }), async chosen => {
      steps += chosen.length
      await runStepsOver(createMemoryStateStore(), chosen)
    })
    await fc.assert(property, { seed, numRuns: 10 })
  }
  expect(steps).toBeGreaterThanOrEqual(STEPS)
})
