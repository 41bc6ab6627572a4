import { LOCAL_QUEUES } from '#test/support/queue-drivers.ts'
import { describeDrivers } from '#test/support/store-drivers.ts'
import { jobQueueContract } from './job-queue-contract.ts'

describeDrivers('index jobs', LOCAL_QUEUES, jobQueueContract)
