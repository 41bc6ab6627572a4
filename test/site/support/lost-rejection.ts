/** Opens the site and loses a rejection outside of any page. Prints `alive` when the process outlives it. */
import { setTimeout as delay } from 'node:timers/promises'
import { openSite } from './site.ts'

const site = await openSite({})
await site.get('/')
void Promise.reject(new Error('lost'))
await delay(100)
process.stdout.write('alive')
await site.close()
