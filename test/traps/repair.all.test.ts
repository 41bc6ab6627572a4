import { DISK_BLOBS, describeDrivers, SERVER_BLOB_STORES } from '#test/support/store-drivers.ts'
import { repairOverStore } from './repair-scene.ts'

describeDrivers('a store on', [DISK_BLOBS, ...SERVER_BLOB_STORES], repairOverStore)
