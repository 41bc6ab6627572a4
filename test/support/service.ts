import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { type AnswerOf, ENDPOINTS, type EndpointName } from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { programEnvironment } from './program-environment.ts'
import { restsBetweenLooks, until } from './until.ts'

/** The real process, spoken to over HTTP alone. */
export interface Service {
  baseUrl: string
  /** Folder of its store. */
  store: string
  /** Everything that it printed. */
  output(): string
  process: ChildProcess
  /** The answer of an endpoint, checked against its contract; waits while the repository is being indexed, or cannot be read now. */
  get<Name extends EndpointName>(name: Name, address: string, query?: Record<string, string>): Promise<AnswerOf<Name>>
  /** The error of an endpoint, checked against the contract. */
  getError(name: EndpointName, address: string, query?: Record<string, string>): Promise<{ status: number; code: string }>
  stop(): Promise<void>
}

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

/**
 * Starts `mountglass serve` with a store and a port of its own.
 *
 * @param env overrides the settings
 * @param program the command, of this checkout or of an installed package
 */
export async function startService(env: Record<string, string> = {}, program = LAUNCHER): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-service-'))
  const store = join(folder, 'store')
  const port = env.PORT ?? (await freePort())
  const settings = { ...programEnvironment(), PORT: String(port), MOUNTGLASS_STORE: `disk:${store}`, ...env }
  const child = spawn(process.execPath, [program, 'serve'], { env: settings, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const baseUrl = `http://127.0.0.1:${port}`
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  await waitUntil(
    () =>
      fetch(`${baseUrl}/healthz`).then(
        answer => answer.ok,
        () => false,
      ),
    () => (child.exitCode === null ? null : `the service ended:\n${output}`),
  )

  const ask = async (name: EndpointName, address: string, query: Record<string, string>) => {
    const path = ENDPOINTS[name].path.replace(/\/\{\w+\}/, address)
    const search = new URLSearchParams(query).toString()
    return fetch(`${baseUrl}/api/v1${path}${search === '' ? '' : `?${search}`}`)
  }

  return {
    baseUrl,
    store,
    output: () => output,
    process: child,
    async get(name, address, query = {}) {
      for await (const _ of restsBetweenLooks(PATIENCE_MILLISECONDS)) {
        const answer = await ask(name, address, query)
        const body: unknown = await answer.json()
        if (answer.status === 503 && mayComeAgain(body)) continue
        if (answer.status !== 200) throw new Error(`${name} ${address}: ${answer.status} ${JSON.stringify(body)}`)
        if (!isIndexing(body)) return (ENDPOINTS[name].answer as z.ZodType).parse(body) as never
      }
      throw new Error(`${name} ${address} stayed unanswered:\n${output}`)
    },
    async getError(name, address, query = {}) {
      const answer = await ask(name, address, query)
      return { status: answer.status, code: ErrorAnswer.parse(await answer.json()).error.code }
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when it says so. A process that stood still for two seconds while it looked at its stores is not ready. */
export function untilReady({ baseUrl }: Pick<Service, 'baseUrl'>): Promise<void> {
  return until(async () => (await fetch(`${baseUrl}/readyz`)).status === 200)
}

/** For what hangs: a little less than the time of a test, whose end would not say what the service printed. */
const PATIENCE_MILLISECONDS = 570_000

/** A git host on a busy machine may answer later than the service waits. A store that cannot be read is never waited for. */
function mayComeAgain(body: unknown): boolean {
  return ['index.indexing', 'mount.unavailable'].includes(ErrorAnswer.parse(body).error.code)
}

function isIndexing(body: unknown): boolean {
  const { status, index } = body as { status?: string; index?: { status?: string } }
  return status === 'indexing' || index?.status === 'indexing'
}

async function waitUntil(isDone: () => Promise<boolean>, failure: () => string | null): Promise<void> {
  for await (const _ of restsBetweenLooks(PATIENCE_MILLISECONDS)) {
    const reason = failure()
    if (reason !== null) throw new Error(reason)
    if (await isDone()) return
  }
  throw new Error('nothing happened')
}
