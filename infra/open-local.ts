import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SettingsError } from '#core/settings.ts'
import { t } from '#words/t.ts'
import type { InfraSettings } from './infra-settings.ts'
import { prepareExampleRepositories } from './local/example.ts'
import { type LocalHost, openLocalHost } from './local/host.ts'
import type { OnRefused } from './local/listed-names.ts'

const EXAMPLE = fileURLToPath(new URL('../examples/handbook', import.meta.url))

/**
 * The host of the operator's repositories, or of the bundled one.
 *
 * @param folder where the bundled one is built
 * @throws SettingsError
 */
export async function openLocal(
  { localRepositories, baseUrl }: Pick<InfraSettings, 'localRepositories' | 'baseUrl'>,
  folder: () => Promise<string>,
  onRefused?: OnRefused,
): Promise<LocalHost> {
  if (localRepositories !== null) await requireFolder('MOUNTGLASS_LOCAL_REPOSITORIES', localRepositories)
  const prepare = async () => {
    const place = join(await folder(), 'examples')
    return await prepareExampleRepositories(EXAMPLE, place).catch(cause => {
      throw new SettingsError('MOUNTGLASS_STORE', t('problem.storeFolder', { folder: place, reason: cause as Error }), { cause })
    })
  }
  if (localRepositories === null) return openLocalHost({ root: await prepare(), baseUrl })
  // The reference repository is served beside the operator's, which do not depend on it.
  const examples = await prepare().catch(error => {
    process.emitWarning(`the reference repository cannot be served: ${(error as Error).message}`)
    return null
  })
  return openLocalHost({
    root: localRepositories,
    baseUrl,
    ...(examples === null ? {} : { examples }),
    ...(onRefused && { onRefused }),
  })
}

async function requireFolder(variable: string, path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory()) throw new SettingsError(variable, t('problem.folderAbsent', { path }))
  await access(path, constants.R_OK | constants.X_OK).catch(cause => {
    throw new SettingsError(variable, t('problem.folderForbidden', { folder: path }), { cause })
  })
}
