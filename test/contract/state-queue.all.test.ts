import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { stateQueueContract } from './state-queue-contract.ts'

describeDrivers('index jobs over a state store', SERVER_STATE_STORES, stateQueueContract)
