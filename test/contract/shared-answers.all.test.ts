import { afterAll } from 'vitest'
import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { sharedAnswersContract } from './shared-answers-contract.ts'
import { serveShared } from './shared-answers-scene.ts'

const scene = await serveShared()
afterAll(scene.close)

describeDrivers('answers over a store', SERVER_STATE_STORES, driver => sharedAnswersContract(driver, scene))
