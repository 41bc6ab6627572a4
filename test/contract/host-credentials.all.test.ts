import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { carelessStates } from '#test/support/careless-store.ts'
import { describeDrivers, LOCAL_STATE_STORES, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { hostCredentialsContract } from './host-credentials-contract.ts'

describeDrivers(
  'credentials of people',
  [...LOCAL_STATE_STORES.filter(({ driver }) => driver === 'disk'), ...SERVER_STATE_STORES],
  hostCredentialsContract,
)

describeDrivers(
  'credentials of people',
  [{ driver: 'that says of writes that they failed', open: async () => carelessStates(createMemoryStateStore(), 0.3) }],
  hostCredentialsContract,
)
