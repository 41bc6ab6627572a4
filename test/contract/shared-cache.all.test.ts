import { afterAll } from 'vitest'
import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { sharedCacheContract } from './shared-cache-contract.ts'
import { serveShared } from './shared-cache-scene.ts'

const scene = await serveShared()
afterAll(scene.close)

describeDrivers('answers over a store', SERVER_STATE_STORES, driver => sharedCacheContract(driver, scene))
