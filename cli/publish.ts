import { publishContent } from '#api/operator/published.ts'
import { validateFolder } from '#api/operator/read-folder.ts'
import { SettingsError } from '#core/settings.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openStores } from '#infra/stores.ts'
import { messageIn } from '#words/sentence.ts'
import { formatNumber, t } from '#words/t.ts'
import { printLines } from './terminal.ts'

export interface PublishCommand {
  /** Overrides `MOUNTGLASS_STORE`. */
  store?: string
  /** Shows what would change. */
  dryRun?: boolean
}

const EXIT_OK = 0
/** The folder has faults, or the store failed. */
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/**
 * `mountglass publish <folder>`: checks the operator's content as a whole, and has the services of a store serve it. Prints every fault with
 * file and line. Exit code 0, 1 or 2.
 */
export async function publish(
  folder: string,
  { store, dryRun = false }: PublishCommand,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const read = await validateFolder(folder)
  if ('faults' in read) return report(read.faults, EXIT_FAILED)
  try {
    const settings = parseSharedInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
    const stores = await openStores(settings, { keepLeftovers: true })
    try {
      const { uploads, changes } = await publishContent(stores, read, dryRun)
      const lines = [
        ...changes.map(({ change, name }) => t(`publish.${change}`, { name })),
        ...uploads.map(({ name, sizeBytes }) => t('publish.upload', { name, bytes: formatNumber(sizeBytes) })),
      ]
      const result = lines.length === 0 ? t('publish.nothing') : dryRun ? t('publish.dryRun') : t('publish.published')
      printLines([...lines, result])
      return EXIT_OK
    } finally {
      await stores.close()
    }
  } catch (error) {
    return report([messageIn(error)], error instanceof SettingsError ? EXIT_USAGE : EXIT_FAILED)
  }
}

function report(lines: readonly string[], exitCode: number): number {
  process.stderr.write(lines.map(line => `${line}\n`).join(''))
  return exitCode
}
