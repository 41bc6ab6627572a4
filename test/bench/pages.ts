import { join } from 'node:path'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { type Service, startService } from '#test/support/service.ts'
import { cpuSecondsOf, errorText, runLoad } from './load.ts'
import { printTable, spread } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const SECONDS = 4
const WARM_SECONDS = 2
const CALM_SECONDS = 8
/** So many URLs that none comes twice in a round. */
const URLS = 20_000
/** Requests a second of a visitor after another, so that no page waits for one before. */
const CALM_RATE = 20

/**
 * Pages that one process sends a second, as fast as 32 connections take them, and how long the server has each at a calm rate by its own log:
 * kept ones, and those that are rendered for each request.
 */
export async function measurePages(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  await ensureBuilt()
  const start = (log: string) =>
    startService({
      MOUNTGLASS_GITHUB: 'off',
      MOUNTGLASS_LOCAL_REPOSITORIES: root,
      MOUNTGLASS_STORE: `disk:${join(root, 'pages-store')}`,
      MOUNTGLASS_LOG: log,
    })
  // Lines of a log take time, so the process that is asked as fast as it answers writes none.
  const [service, logging] = await Promise.all([start('warn'), start('info')])
  try {
    const { owner, name } =
      repositories.find(repository => repository.name === 'superpowers') ?? (repositories[0] as BenchRepository)
    const address = `/local/${owner}/${name}`
    const { index } = await service.get('mounts', address)
    const skill = index.status === 'ready' ? index.skills[0]?.path : undefined
    const pages = ['/', address, ...(skill === undefined ? [] : [`${address}?view=skill&path=${skill}`]), '/docs/rest']
    const rows: Record<string, string | number>[] = []
    for (const page of pages) {
      rows.push(await measurePage(service, logging, page, [page]))
      if (!page.startsWith(address)) continue
      const mark = page.includes('?') ? '&' : '?'
      rows.push(
        await measurePage(
          service,
          logging,
          `${page} (rendered)`,
          Array.from({ length: URLS }, (_, turn) => `${page}${mark}turn=${turn}`),
        ),
      )
    }
    printTable(`Pages of one process, 32 connections, ${SECONDS} s`, rows)
  } finally {
    await Promise.all([service.stop(), logging.stop()])
  }
}

async function measurePage(
  { baseUrl, process: { pid = 0 } }: Service,
  logging: Service,
  page: string,
  paths: string[],
): Promise<Record<string, string | number>> {
  await runLoad(baseUrl, paths.slice(-1_000), null, WARM_SECONDS)
  const startedCpu = await cpuSecondsOf(pid)
  const { requests, errors, p50 } = await runLoad(baseUrl, paths, null, SECONDS)
  const perCpuSecond = requests / ((await cpuSecondsOf(pid)) - startedCpu)
  await runLoad(logging.baseUrl, paths.slice(-1_000), null, WARM_SECONDS)
  const loggedBefore = logging.output().length
  const client = await runLoad(logging.baseUrl, paths, CALM_RATE, CALM_SECONDS)
  const server = spread(loggedTimes(logging.output().slice(loggedBefore)))
  return {
    page,
    'pages/s': requests / SECONDS,
    'pages per CPU second': Math.round(perCpuSecond),
    'p50, ms': p50,
    'p50 of 20/s': server.p50,
    'p95 of 20/s': server.p95,
    'p50 at the client': client.p50,
    errors: errorText(errors),
  }
}

/** Milliseconds that the server had each page, of its log. Of what a page asks of the interface there are lines, too. */
function loggedTimes(log: string): number[] {
  const lines = log.split('\n').filter(line => line.endsWith('"msg":"answered"}'))
  const answers = lines.map(line => JSON.parse(line) as { path: string; ms: number })
  return answers.filter(({ path }) => !path.startsWith('/api/')).map(({ ms }) => ms)
}
