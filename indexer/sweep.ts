import { SettingsError } from '#core/settings.ts'
import { parseSharedInfraSettings } from '#infra/config.ts'
import { openStores } from '#infra/stores.ts'
import { systemClock } from '#infra/system/clock.ts'
import { SweepBusyError, sweepStore } from './sweep/sweep.ts'
import { formatTally } from './sweep/tally.ts'

export interface SweepCommand {
  /** In place of `MOUNTGLASS_STORE`. */
  store?: string
  /** After which what nobody opened goes. */
  days: number
  /** Else it is only told what would go. */
  remove?: boolean
}

const EXIT_OK = 0
/** The store could not be swept, or not all of it. */
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/**
 * `mountglass sweep`: removes what nobody uses any more, or tells what that would be. No git host is asked. The exit code is 0, 1 (not all
 * could be done) or 2 (wrong setting).
 */
export async function sweep({ store, days, remove = false }: SweepCommand, env: NodeJS.ProcessEnv): Promise<number> {
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  for (const signal of SIGNALS) process.once(signal, interrupt)
  try {
    const stores = await openStores(parseSharedInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store }))
    try {
      const onFailure = (place: string, error: unknown) => say(`${place} could not be swept: ${messageOf(error)}`)
      const tally = await sweepStore(stores, systemClock, { days, remove, signal: stop.signal, onFailure })
      process.stdout.write(formatTally(tally, { days, remove }))
      if (tally.failures === 0) return EXIT_OK
      say(`${tally.failures} repositories could not be swept`)
      return EXIT_FAILED
    } finally {
      await stores.close()
    }
  } catch (error) {
    if (error instanceof SettingsError) return say(error.message, EXIT_USAGE)
    if (error instanceof SweepBusyError) return say(`${error.message}: run this one again later`, EXIT_FAILED)
    return say(`the sweep was broken off: ${messageOf(error)}. What it has done stays done; run it again`, EXIT_FAILED)
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(message: string, exitCode = EXIT_FAILED): number {
  process.stderr.write(`${message}\n`)
  return exitCode
}
