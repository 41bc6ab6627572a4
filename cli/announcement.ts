import { resolve } from 'node:path'
import type { Deps } from '#api/deps.ts'
import { isServed } from '#api/mount/open-mount.ts'
import { REFERENCE_REPOSITORY } from '#api/operator/operator-content.ts'
import { ANONYMOUS, maySee } from '#api/people/viewer.ts'
import { formatAddress } from '#core/address.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { ROOT } from '#core/repo-path.ts'
import type { StoreSetting } from '#infra/infra-settings.ts'
import { formatNumber, t } from '#words/t.ts'

/** Addresses of local repositories that anyone may open. */
export interface LocalAddresses {
  addresses: readonly string[]
  /** False when there may be more. */
  isComplete: boolean
}

interface Announced {
  store: StoreSetting
  local: LocalAddresses | null
  hasHandbook: boolean
  withPages: boolean
}

/** Addresses that are printed; the others are counted. */
const SHOWN = 5

/** The addresses of repositories that the operator's rules serve to everyone. */
export function openAddresses(deps: Pick<Deps, 'allow' | 'deny'>, repositories: readonly HostRepository[]): string[] {
  return repositories.flatMap(repository => {
    const { host, owner, name, main } = repository
    const address = { host, owner, repository: name, ref: null, path: ROOT }
    const isOpen = [address, ...(main ? [{ ...address, owner: main.owner, repository: main.name }] : [])].every(one =>
      isServed(deps, one),
    )
    return isOpen && maySee(ANONYMOUS, repository) ? [formatAddress(address)] : []
  })
}

/**
 * What the service prints once it listens.
 *
 * @param store where it keeps its data
 * @param local those of the operator's folder; `null` without one
 * @param hasHandbook whether the bundled handbook is served to everyone
 */
export function announcement(baseUrl: string, { store, local, hasHandbook, withPages }: Announced): string {
  const urlOf = (address: string) => `${baseUrl}${withPages ? '' : '/api/v1/mounts'}${address}`
  const handbook = hasHandbook ? [t('serve.begin', { url: urlOf(REFERENCE_REPOSITORY) })] : []
  const lines = local === null || local.addresses.length === 0 ? handbook : local.addresses.slice(0, SHOWN).map(urlOf)
  return [
    t('serve.answers', { url: withPages ? `${baseUrl}/` : `${baseUrl}/api/v1`, place: placeOf(store) }),
    ...(withPages ? [] : [`  ${t('serve.withoutPages')}`]),
    ...(local?.addresses.length === 0 ? [`  ${local.isComplete ? t('serve.nothing') : t('serve.nothingYet')}`] : []),
    ...[...lines, ...restOf(local)].map(line => `  ${line}`),
    '',
  ].join('\n')
}

function placeOf(store: StoreSetting): string {
  switch (store.kind) {
    case 'disk':
      return resolve(store.folder)
    case 's3':
      return `s3:${store.bucket}${store.prefix === '' ? '' : `/${store.prefix}`}`
    case 'memory':
      return t('serve.inMemory')
  }
}

function restOf(local: LocalAddresses | null): string[] {
  if (local === null) return []
  if (!local.isComplete) return [t('serve.perhapsMore')]
  const rest = local.addresses.length - SHOWN
  return rest > 0 ? [t('serve.more', { n: formatNumber(rest) })] : []
}
