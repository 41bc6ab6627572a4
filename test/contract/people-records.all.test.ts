import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { peopleRecordsContract } from './people-records-contract.ts'

describeDrivers('records of people', SERVER_STATE_STORES, peopleRecordsContract)
