import { describeDrivers, SERVER_BLOB_STORES, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { pairOf, sweepOverStores } from './sweep-over-stores.ts'

const PAIRS = SERVER_STATE_STORES.map(states => pairOf(SERVER_BLOB_STORES[0], states))

describeDrivers('a sweep over', PAIRS, sweepOverStores)
