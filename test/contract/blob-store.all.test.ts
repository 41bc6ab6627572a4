import { describeDrivers, SERVER_BLOB_STORES } from '#test/support/store-drivers.ts'
import { blobStoreContract } from './blob-store-contract.ts'

describeDrivers('objects', SERVER_BLOB_STORES, blobStoreContract)
