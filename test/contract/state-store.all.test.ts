import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { stateStoreContract } from './state-store-contract.ts'

describeDrivers('documents', SERVER_STATE_STORES, stateStoreContract)
