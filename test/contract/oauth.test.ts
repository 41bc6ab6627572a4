import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { carelessStates } from '#test/support/careless-store.ts'
import { describeDrivers, LOCAL_STATE_STORES } from '#test/support/store-drivers.ts'
import { oauthContract } from './oauth-contract.ts'

describeDrivers('codes and tokens', LOCAL_STATE_STORES, oauthContract)

describeDrivers(
  'codes and tokens',
  [{ driver: 'that says of writes that they failed', open: async () => carelessStates(createMemoryStateStore(), 0.3) }],
  oauthContract,
)
