import fc from 'fast-check'
import { test } from 'vitest'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { carelessStates } from '#test/support/careless-store.ts'
import { runStepsOver, STEP } from '#test/support/oauth-model.ts'

test('for any actions of apps, people and time, two replicas follow the model of grants', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 100, size: 'max' }), async steps =>
      runStepsOver(createMemoryStateStore(), steps),
    ),
    { numRuns: 20 },
  )
})

test('two replicas follow the model of grants over a store that reports failed writes, too', async () => {
  const open = () => carelessStates(createMemoryStateStore(), 0.2)
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 60, size: 'max' }), async steps => runStepsOver(open(), steps)),
    {
      numRuns: 5,
    },
  )
})
