import { existsSync } from 'node:fs'
import { SettingsError } from '#core/settings.ts'
import { SweepBusyError, sweepStore } from '#indexer/sweep/sweep.ts'
import { formatTally } from '#indexer/sweep/sweep-tally.ts'
import { type InfraSettings, parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openStores, type Stores } from '#infra/stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { messageIn } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { printLines } from './terminal.ts'

export interface SweepCommand {
  /** Overrides `MOUNTGLASS_STORE`. */
  store?: string
  /** Days after its writing after which a snapshot is removed. */
  days: number
  /** Without it the command only lists what it would remove. */
  remove?: boolean
}

const EXIT_OK = 0
/** The store could not be opened, or not all of it could be swept. */
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/**
 * `mountglass sweep`: lists the unused data of a store, or removes it. It sends no request to a git host. Exit code 0, 1 (failed, or not all
 * of the store was swept) or 2 (wrong setting).
 */
export async function sweep({ store, ...options }: SweepCommand, env: NodeJS.ProcessEnv): Promise<number> {
  let settings: InfraSettings
  try {
    settings = parseSharedInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
  } catch (error) {
    return reportSettingsError(error, EXIT_USAGE)
  }
  if (settings.store.kind === 'disk' && !existsSync(settings.store.folder)) {
    const missing = new SettingsError('MOUNTGLASS_STORE', t('problem.noStore', { folder: settings.store.folder }))
    return reportSettingsError(missing, EXIT_FAILED)
  }
  let stores: Stores
  try {
    // Leftover files are counted, and removed with `--remove` only.
    stores = await openStores(settings, { keepLeftovers: true })
  } catch (error) {
    return reportSettingsError(error, EXIT_FAILED)
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
    const onFailure = (place: string, error: unknown) => report(t('sweep.cannotSweep', { place, reason: messageIn(error) }))
    const tally = await sweepStore(stores, systemClock, { days, remove, signal: stop.signal, onFailure })
    printLines(formatTally({ ...tally, leftovers: await stores.leftovers(remove) }, { days, remove }))
    if (tally.failures === 0) return EXIT_OK
    return report(t('sweep.notSwept', { n: tally.failures }))
  } catch (error) {
    if (error instanceof SweepBusyError) return report(t('sweep.tryLater', { reason: messageIn(error) }))
    return report(t('sweep.stopped', { reason: messageIn(error) }))
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

function reportSettingsError(error: unknown, exitCode: number): number {
  if (!(error instanceof SettingsError)) throw error
  return report(messageIn(error), exitCode)
}

function report(message: string, exitCode = EXIT_FAILED): number {
  process.stderr.write(`${message}\n`)
  return exitCode
}
