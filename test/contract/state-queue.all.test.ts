import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { stateQueueContract } from './state-queue-contract.ts'

describeDrivers('index jobs over documents', SERVER_STATE_STORES, stateQueueContract)
