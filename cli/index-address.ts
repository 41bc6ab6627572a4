import { type Address, formatAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { SettingsError } from '#core/settings.ts'
import { chooseReading, readTypedAddress, type TypedAddress } from '#core/typed-address.ts'
import { isTip, listIndexed } from '#indexer/jobs/run-index-job.ts'
import { errorCodeOf } from '#indexer/pipeline/index-error.ts'
import type { Progress } from '#indexer/pipeline/progress.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { type InfraSettings, parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { messageIn } from '#words/sentence.ts'
import { formatTenths, t } from '#words/t.ts'
import { saidOfOwnReading } from './own-reading.ts'
import { problemAt, resolveAddress } from './resolve-address.ts'

export interface IndexOptions {
  /** Overrides `MOUNTGLASS_STORE`. */
  store?: string
}

/** The snapshot exists. */
const EXIT_OK = 0
/** Indexing failed: the host or the store did not answer, or the repository could not be read. */
const EXIT_FAILED = 1
/** The address or a setting is wrong. */
const EXIT_USAGE = 2

/**
 * `mountglass index <address>`: indexes one address and prints the result. Takes every spelling that the address field of the site takes.
 * Exit code 0, 1 (failed) or 2 (wrong address or setting).
 */
export async function indexAddress(rawAddress: string, { store }: IndexOptions, env: NodeJS.ProcessEnv): Promise<number> {
  let settings: InfraSettings
  try {
    settings = parseSharedInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
  } catch (error) {
    return reportSettingsError(error, EXIT_USAGE)
  }
  const refusals: string[] = []
  let infra: Infra
  try {
    infra = await openInfra(settings, null, (_name, reason) => refusals.push(reason))
  } catch (error) {
    return reportSettingsError(error, EXIT_FAILED)
  }
  try {
    const typed = readTypedAddress(rawAddress, { hosts: infra.hosts.map(host => host.segment), baseUrl: settings.baseUrl })
    if (typed.kind !== 'address') return report(problemOf(typed), EXIT_USAGE)
    const { address } = await chooseReading(typed, asked => problemAt(infra.hosts, asked))
    return await indexWith(infra, address).catch(error => {
      if (!(error instanceof ServiceError)) throw error
      const refusal = refusals.length === 0 ? null : t('problem.localNotServed', { reasons: refusals.join('; ') })
      const message = refusal ?? saidOfOwnReading(error, address)
      return report(`${error.code}: ${message}`, error.status === 503 ? EXIT_FAILED : EXIT_USAGE)
    })
  } finally {
    await infra.close()
  }
}

function problemOf(typed: Exclude<TypedAddress, { kind: 'address' }>): string {
  if (typed.kind === 'owner') return t('problem.account', { owner: typed.owner.owner })
  return typed.code === null ? typed.message : `${typed.code}: ${typed.message}`
}

async function indexWith(infra: Infra, address: Address): Promise<number> {
  const { host, repository, commit } = await resolveAddress(infra.hosts, address)
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  process.once('SIGINT', interrupt)

  const printer = createProgressPrinter(process.stderr)
  const title = formatAddress({ ...address, owner: repository.owner, repository: repository.name })
  printer.title(t('index.title', { address: title, commit }))
  try {
    const written = await writeSnapshot(infra, { repository, commit }, stop.signal, printer.report)
    await listIndexed(infra, { repository, commit }, () => isTip(host, { repository, commit }))
    printer.end()
    if (written === null) return report(t('index.already'), EXIT_OK)
    const { skills, documents } = written.header.root.folder.counts
    const counted = t('index.written', {
      skills: t('counts.skill', { n: skills }),
      documents: t('counts.document', { n: documents }),
      objects: t('counts.object', { n: written.objects }),
      bytes: t('counts.byte', { n: written.bytes }),
    })
    return report(written.header.truncated ? t('index.partial', { written: counted }) : counted, EXIT_OK)
  } catch (error) {
    printer.end()
    return report(`${errorCodeOf(error)}: ${messageIn(error)}`, EXIT_FAILED)
  } finally {
    process.off('SIGINT', interrupt)
  }
}

function reportSettingsError(error: unknown, exitCode: number): number {
  if (!(error instanceof SettingsError)) throw error
  return report(messageIn(error), exitCode)
}

function report(message: string, exitCode: number): number {
  process.stderr.write(`${message}\n`)
  return exitCode
}

interface ProgressPrinter {
  title(text: string): void
  report(progress: Progress): void
  /** Ends the line of the last stage. */
  end(): void
}

/** Prints one line per stage with count and rate: on a terminal rewritten in place, elsewhere once the stage has ended. */
function createProgressPrinter(out: NodeJS.WriteStream): ProgressPrinter {
  let last: Progress | null = null
  let startedAt = 0

  const line = (progress: Progress) => lineOf(progress, (performance.now() - startedAt) / 1000)

  function end(): void {
    if (last) out.write(out.isTTY ? `\r\u001B[K${line(last)}\n` : `${line(last)}\n`)
    last = null
  }

  return {
    title: text => void out.write(`${text}\n`),
    report(progress) {
      if (last?.stage !== progress.stage) {
        end()
        startedAt = performance.now()
      }
      last = progress
      if (out.isTTY) out.write(`\r\u001B[K${line(progress)}`)
    },
    end,
  }
}

function lineOf({ stage, done, total }: Progress, seconds: number): string {
  const rate = done > 0 && seconds > 0 ? `, ${Math.round(done / seconds)}/s` : ''
  return `${t(`index.stages.${stage}`).padEnd(8)}${done > 0 ? ` ${countOf({ stage, done, total })}${rate}` : ''} (${formatTenths(seconds)} s)`
}

function countOf({ stage, done, total }: Progress): string {
  return total === null ? t(`index.done.${stage}.some`, { done }) : t(`index.done.${stage}.ofAll`, { done, total })
}
