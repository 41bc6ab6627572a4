import { join } from 'node:path'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { type Service, startService } from '#test/support/service.ts'
import { cpuSecondsOf, errorText, runLoad } from './load.ts'
import { printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const SECONDS = 4
const WARM_SECONDS = 2
/** So many URLs that none comes twice in a round. */
const URLS = 20_000
/** Kept pages for a second of the processor, at least. */
const TARGET = 1_500
/** Requests a second of a visitor after another, so that no page waits for one before, and the bounds of their times, in milliseconds. */
const CALM_RATE = 20
const CALM_TARGETS = { p50: 5, p95: 15 }

/** Pages that one process sends a second, as fast as 32 connections take them: kept ones, and those that are rendered for each request. */
export async function measurePages(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  await ensureBuilt()
  const service = await startService({
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'pages-store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    const { owner, name } =
      repositories.find(repository => repository.name === 'superpowers') ?? (repositories[0] as BenchRepository)
    const address = `/local/${owner}/${name}`
    const { index } = await service.get('mounts', address)
    const skill = index.status === 'ready' ? index.skills[0]?.path : undefined
    const pages = ['/', address, ...(skill === undefined ? [] : [`${address}?view=skill&path=${skill}`]), '/docs/rest']
    const rows: Record<string, string | number>[] = []
    for (const page of pages) {
      rows.push(await measurePage(service, page, [page]))
      if (!page.startsWith(address)) continue
      const mark = page.includes('?') ? '&' : '?'
      rows.push(
        await measurePage(
          service,
          `${page} (rendered)`,
          Array.from({ length: URLS }, (_, turn) => `${page}${mark}turn=${turn}`),
        ),
      )
    }
    printTable(`Pages of one process, 32 connections, ${SECONDS} s`, rows)
  } finally {
    await service.stop()
  }
}

async function measurePage(
  { baseUrl, process: { pid = 0 } }: Service,
  page: string,
  paths: string[],
): Promise<Record<string, string | number>> {
  await runLoad(baseUrl, paths.slice(-1_000), null, WARM_SECONDS)
  const startedCpu = await cpuSecondsOf(pid)
  const { requests, errors, p50 } = await runLoad(baseUrl, paths, null, SECONDS)
  const perCpuSecond = requests / ((await cpuSecondsOf(pid)) - startedCpu)
  const calm = await runLoad(baseUrl, paths, CALM_RATE, SECONDS)
  const isKept = page.startsWith('/local/') && !page.endsWith(')')
  const target = !isKept ? '' : `>= ${TARGET}${perCpuSecond < TARGET ? ': MISSED' : ''}`
  return {
    page,
    'pages/s': requests / SECONDS,
    'pages per CPU second': Math.round(perCpuSecond),
    target,
    'p50, ms': p50,
    'p50 of 20/s': calm.p50,
    'p95 of 20/s': calm.p95,
    'target, ms': !page.startsWith('/local/')
      ? ''
      : `<= ${CALM_TARGETS.p50}, ${CALM_TARGETS.p95}${calm.p50 > CALM_TARGETS.p50 || calm.p95 > CALM_TARGETS.p95 ? ': MISSED' : ''}`,
    errors: errorText(errors),
  }
}
