import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { ownerListingsContract } from './owner-listings-contract.ts'

describeDrivers('the listings of an account in a state store', SERVER_STATE_STORES, ownerListingsContract)
