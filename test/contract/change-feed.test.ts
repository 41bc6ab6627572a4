import { describeDrivers, LOCAL_STATE_STORES } from '#test/support/store-drivers.ts'
import { changeFeedContract } from './change-feed-contract.ts'

describeDrivers('changes over a store', LOCAL_STATE_STORES, changeFeedContract)
