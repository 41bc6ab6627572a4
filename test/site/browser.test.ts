import { describe } from 'vitest'
import { hasBrowser } from './support/browser.ts'
import { visitsAt } from './support/visits.ts'

describe.skipIf(!hasBrowser)('in a browser, at the host local', () => visitsAt('local', 1))
