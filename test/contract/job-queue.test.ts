import { LOCAL_QUEUES } from '#test/support/queue-drivers.ts'
import { describeDrivers } from '#test/support/store-drivers.ts'
import { jobQueueContract } from './job-queue-contract.ts'
import { jobTurnsContract } from './job-turns-contract.ts'

describeDrivers('index jobs', LOCAL_QUEUES, jobQueueContract)
describeDrivers('turns of index jobs', LOCAL_QUEUES, jobTurnsContract)
