import { SettingsError } from '#core/settings.ts'
import { type InfraSettings, parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openStores, type Stores } from '#infra/stores.ts'
import { systemClock } from '#infra/system/clock.ts'
import { SweepBusyError, sweepStore } from '../sweep/sweep.ts'
import { formatTally } from '../sweep/sweep-tally.ts'

export interface SweepCommand {
  /** In place of `MOUNTGLASS_STORE`. */
  store?: string
  /** After which what nobody opened goes. */
  days: number
  /** Else it is only told what would go. */
  remove?: boolean
}

const EXIT_OK = 0
/** The store could not be opened or swept, or not all of it. */
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/**
 * `mountglass sweep`: removes what nobody uses any more, or tells what that would be. No git host is asked. The exit code is 0, 1 (not all
 * could be done) or 2 (wrong setting).
 */
export async function sweep({ store, ...options }: SweepCommand, env: NodeJS.ProcessEnv): Promise<number> {
  let settings: InfraSettings
  try {
    settings = parseSharedInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
  } catch (error) {
    return sayProblem(error, EXIT_USAGE)
  }
  let stores: Stores
  try {
    // What is only told about stays as it is.
    stores = await openStores(settings, { keepLeftovers: true })
  } catch (error) {
    return sayProblem(error, EXIT_FAILED)
  }
  try {
    return await sweepOpened(stores, options)
  } finally {
    await stores.close()
  }
}

async function sweepOpened(stores: Stores, { days, remove = false }: Omit<SweepCommand, 'store'>): Promise<number> {
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  for (const signal of SIGNALS) process.once(signal, interrupt)
  try {
    const onFailure = (place: string, error: unknown) => say(`${place} could not be swept: ${messageOf(error)}`)
    const tally = await sweepStore(stores, systemClock, { days, remove, signal: stop.signal, onFailure })
    process.stdout.write(formatTally({ ...tally, leftovers: await stores.leftovers(remove) }, { days, remove }))
    if (tally.failures === 0) return EXIT_OK
    return say(`${tally.failures} repositories could not be swept`)
  } catch (error) {
    if (error instanceof SweepBusyError) return say(`${error.message}: run this one again later`, EXIT_FAILED)
    return say(`the sweep was broken off: ${messageOf(error)}. What it has done stays done; run it again`, EXIT_FAILED)
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

function sayProblem(error: unknown, exitCode: number): number {
  if (!(error instanceof SettingsError)) throw error
  return say(error.message, exitCode)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(message: string, exitCode = EXIT_FAILED): number {
  process.stderr.write(`${message}\n`)
  return exitCode
}
