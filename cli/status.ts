import type { OperatorContent } from '#api/operator/operator-content.ts'
import { publishedSource } from '#api/operator/published.ts'
import { readOperatorFolder } from '#api/operator/read-folder.ts'
import { readStatus, type StatusSources } from '#api/reading/status.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import { homePath, SettingsError } from '#core/settings.ts'
import { type InfraSettings, parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { missingStore } from '#infra/stores.ts'
import { messageIn } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { statusLines, statusPage, toReport } from './status-report.ts'
import { paint, printLines } from './terminal.ts'

export interface StatusCommand {
  /** Overrides `MOUNTGLASS_STORE`. */
  store?: string
  /** Print one JSON document. */
  json?: boolean
}

const EXIT_OK = 0
/** There is no store, or it could not be opened. */
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/** `mountglass status`: prints the repositories of a deployment and their states, private ones too. Exit code 0, 1 or 2 (wrong setting). */
export async function status({ store, json = false }: StatusCommand, env: NodeJS.ProcessEnv): Promise<number> {
  let settings: InfraSettings
  try {
    settings = parseSharedInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
  } catch (error) {
    return report(error, EXIT_USAGE)
  }
  const folder = missingStore(settings)
  if (folder !== null) return report(new SettingsError('MOUNTGLASS_STORE', t('problem.noStore', { folder })), EXIT_FAILED)
  let infra: Infra
  // What git says of a local repository, which the log of a service has.
  const reasons = new Map<string, string>()
  try {
    infra = await openInfra(settings, undefined, ({ owner, name }, reason) => reasons.set(`local/${owner}/${name}`, reason))
  } catch (error) {
    return report(error, EXIT_FAILED)
  }
  try {
    const found = toReport(await readStatus(sourcesOf(infra, await operatorContent(infra, settings, env))))
    if (json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
    else printLines(statusLines(found, paint, reasons))
    return EXIT_OK
  } finally {
    await infra.close()
  }
}

function report(error: unknown, exitCode: number): number {
  if (!(error instanceof SettingsError)) throw error
  process.stderr.write(`${messageIn(error)}\n`)
  return exitCode
}

async function operatorContent(infra: Infra, { baseUrl }: InfraSettings, env: NodeJS.ProcessEnv): Promise<OperatorContent> {
  const { MOUNTGLASS_OPERATOR: folder } = env
  if (folder) return await readOperatorFolder(homePath('MOUNTGLASS_OPERATOR', folder, env), baseUrl)
  const published = publishedSource(infra, baseUrl, NO_FALLBACKS)
  await published.refresh()
  return published.current()
}

/** Memory of the snapshots that one reading looks at. */
const CACHE_BYTES = 8 * 1024 * 1024

function sourcesOf(
  infra: Pick<Infra, 'local' | 'hosts' | 'states' | 'blobs'>,
  { featured }: Pick<OperatorContent, 'featured'>,
): StatusSources {
  const { local, hosts, states, blobs } = infra
  // A reader of its own asks for no repairs.
  const snapshots = createSnapshotReader(blobs, { cacheBytes: CACHE_BYTES })
  return { local, hosts, states, listings: createOwnerListings(states), snapshots, featured }
}

/** A page is read again after this time at the earliest. */
const PAGE_MS = 10_000

/** The page of a service: requests that come together share one reading. */
export function statusPages(
  infra: Parameters<typeof sourcesOf>[0],
  content: () => OperatorContent,
  baseUrl: string,
): () => Promise<string> {
  const flights = createSingleFlight<string>()
  let last: { html: string; readAt: number } | null = null
  return () =>
    flights.run('status', async () => {
      if (last !== null && performance.now() - last.readAt < PAGE_MS) return last.html
      const html = statusPage(await readStatus(sourcesOf(infra, content())), baseUrl)
      last = { html, readAt: performance.now() }
      return html
    })
}
