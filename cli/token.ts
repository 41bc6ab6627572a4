import { activeTokens, createAgentToken, deleteAgentToken } from '#api/people/agent-tokens.ts'
import type { PeopleContext } from '#api/people/context.ts'
import type { AgentToken, PersonRecord } from '#api/people/records.ts'
import { parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { printable } from '#core/hidden-text.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { SettingsError } from '#core/settings.ts'
import { columnWidth, padded } from '#indexer/check/fold.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { messageIn, SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { deploymentKeys, deploymentPeople } from './deployment-people.ts'
import { parseKeySettings } from './service-settings.ts'

export type TokenCommand =
  | { action: 'create'; address: string; label: string; days: number }
  /** `address`: of one repository only. */
  | { action: 'list'; address: string | null }
  | { action: 'delete'; id: string }

const EXIT_OK = 0
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/**
 * `mountglass token create|list|delete`: the operator's own tokens, which read private local repositories. No sign-in is needed: access
 * to the store is the permission. Exit code 0, 1 or 2.
 *
 * @param store overrides `MOUNTGLASS_STORE`
 */
export async function manageTokens(
  command: TokenCommand,
  { store }: { store?: string },
  env: NodeJS.ProcessEnv,
): Promise<number> {
  try {
    const settings = parseInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
    if (settings.store.kind === 'memory') throw new SettingsError('MOUNTGLASS_STORE', t('problem.memoryKeepsNoTokens'))
    const infra = await openInfra(settings)
    try {
      const keySettings = parseKeySettings(env)
      const keys = await deploymentKeys(infra, keySettings)
      const people = await deploymentPeople(infra, { ...keySettings, allow: null, deny: [] }, keys, {
        baseUrl: settings.baseUrl,
        isBucket: settings.store.kind === 's3',
        log: { info() {} },
        fallbacks: NO_FALLBACKS,
      })
      if (people === null) throw new SettingsError('MOUNTGLASS_ID_KEY', t('problem.asTheService'))
      process.stdout.write(await run(command, people.context, infra))
      return EXIT_OK
    } finally {
      await infra.close()
    }
  } catch (error) {
    process.stderr.write(`mountglass: ${messageIn(error)}\n`)
    return error instanceof SettingsError ? EXIT_USAGE : EXIT_FAILED
  }
}

/** What is printed. The secret stands alone on the last line, so that it can be piped. */
async function run(command: TokenCommand, context: PeopleContext, infra: Pick<Infra, 'local'>): Promise<string> {
  const person = context.recordIds.operator()
  switch (command.action) {
    case 'create': {
      const repository = await findPrivate(infra, command.address)
      const plan = { repository, label: command.label, expiresInDays: command.days }
      const created = await createAgentToken(context, person, plan, operatorRecord(person))
      return created === null ? '' : `${created.token}\n`
    }
    case 'list': {
      const record = await context.records.people.read(person)
      const active = activeTokens(record?.tokens ?? [], context.clock.now())
      return formatList(active.filter(({ address }) => command.address === null || address === command.address))
    }
    case 'delete': {
      await deleteAgentToken(context, person, command.id)
      return ''
    }
  }
}

function operatorRecord(person: string): PersonRecord {
  return { v: 1, uk: person, since: '', host: null, cred: null, sessions: [], tokens: [] }
}

/** @throws Error in one line, when the address is no local repository that needs a token */
async function findPrivate({ local }: Pick<Infra, 'local'>, text: string): Promise<HostRepository> {
  const { owner, repository, ref, path } = parseAddress(text, ['local'])
  if (ref !== null || path !== '') throw new ServiceError('token.not_a_repository')
  const found = await local.repository(owner, repository)
  if (found.status !== 'ok') throw new SentenceError(t('problem.noLocalRepository', { owner, repository }))
  if (found.value.visibility === 'public') throw new ServiceError('token.public_repository')
  return found.value
}

/** In columns on a terminal; elsewhere separated by tabs, for scripts. */
function formatList(tokens: readonly AgentToken[]): string {
  const rows = tokens.map(({ id, address, label, expiresAt, lastUsedAt }) => [
    id,
    address,
    t('token.expires', { at: expiresAt }),
    lastUsedAt === null ? t('token.neverUsed') : t('token.used', { at: lastUsedAt }),
    label,
  ])
  if (!process.stdout.isTTY) return rows.map(row => `${row.join('\t')}\n`).join('')
  const widths = [0, 1, 2, 3].map(column => columnWidth(rows.map(row => row[column] ?? '')))
  return rows.map(row => `${row.map((cell, at) => padded(printable(cell), widths[at] ?? 0)).join('  ')}\n`).join('')
}
