import { describeDrivers, LOCAL_STATE_STORES, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { hostCredentialsContract } from './host-credentials-contract.ts'

describeDrivers(
  'credentials of people',
  [...LOCAL_STATE_STORES.filter(({ driver }) => driver === 'disk'), ...SERVER_STATE_STORES],
  hostCredentialsContract,
)
