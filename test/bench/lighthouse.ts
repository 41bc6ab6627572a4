import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { CHROMIUM_FLAGS } from '#test/site/support/browser.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { startService } from '#test/support/service.ts'
import { findBrowser } from '../../scripts/setup/system-packages.mjs'
import { marked } from './github-figures.ts'
import { median, printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

/** Installed into a folder of its own: a hundred packages that nothing else needs. */
const LIGHTHOUSE = 'lighthouse@13.5.0'
const RUNS = 3
const TARGET = { score: 100, lcpMs: 1_200, cls: 0, pageKilobytes: 120, cssKilobytes: 6, scriptKilobytes: 5 }
/** Pages that are not to be indexed lose this audit by intention. */
const NOT_INDEXED = 'is-crawlable'
const LCP = 'largest-contentful-paint'
const FLAGS = ['--headless=new', ...CHROMIUM_FLAGS]

const run = promisify(execFile)

/** What Lighthouse says of the pages, as a phone on a slow line; beside it what projects that are known for fast pages allow themselves. */
export async function measureLighthouse(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const browser = findBrowser()
  if (browser === null) throw new Error('Lighthouse needs Chromium: install it, or set CHROMIUM_PATH')
  await ensureBuilt()
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-lighthouse-'))
  const service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_LOCAL_REPOSITORIES: root, MOUNTGLASS_LOG: 'warn' })
  try {
    const { owner, name } =
      repositories.find(repository => repository.name === 'superpowers') ?? (repositories[0] as BenchRepository)
    const address = `/local/${owner}/${name}`
    const { index } = await service.get('mounts', address)
    const skill = index.status === 'ready' ? index.skills[0]?.path : undefined
    const { audit, close } = await startLighthouse(folder, browser)
    try {
      const pages = ['/', address, ...(skill ? [`${address}?view=skill&path=${skill}`] : []), '/docs/agents', '/docs/rest']
      const rows: Record<string, string | number>[] = []
      for (const page of pages)
        rows.push(await rowOf(service.baseUrl, page, await auditAgain(audit, `${service.baseUrl}${page}`)))
      printTable(`Pages by ${LIGHTHOUSE}, mobile (median of ${RUNS})`, rows)
    } finally {
      await close()
    }
    printTable('What others allow their pages, as their repositories say', [
      { project: 'Starlight', 'CSS kB, gzip': 14.5, 'script kB, gzip': 23, accessibility: '' },
      { project: 'npmx.dev', 'CSS kB, gzip': '', 'script kB, gzip': '', accessibility: 100 },
    ])
  } finally {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Report {
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>
  audits: Record<string, { score: number | null; numericValue?: number; details?: { items: unknown[] } }>
}

interface Request {
  resourceType?: string
  transferSize: number
}

type Audit = (url: string) => Promise<Report>

async function startLighthouse(folder: string, chromePath: string): Promise<{ audit: Audit; close(): Promise<void> }> {
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', LIGHTHOUSE], { cwd: folder })
  const { resolve } = createRequire(join(folder, 'package.json'))
  const load = (name: string) => import(pathToFileURL(resolve(name)).href)
  const { default: lighthouse } = await load('lighthouse')
  const { launch } = await load('chrome-launcher')
  const chrome = await launch({ chromePath, chromeFlags: FLAGS })
  return {
    audit: async url => (await lighthouse(url, { port: chrome.port, logLevel: 'error' })).lhr,
    close: async () => void (await chrome.kill()),
  }
}

/** One run more than is counted: the first meets cold caches. A run whose trace is broken, as on a busy machine, is repeated. */
async function auditAgain(audit: Audit, url: string): Promise<Report[]> {
  const reports: Report[] = []
  for (let turn = 0; turn <= 2 * RUNS && reports.length <= RUNS; turn++) {
    const report = await audit(url)
    if (Number.isFinite(report.audits[LCP]?.numericValue)) reports.push(report)
  }
  return reports.slice(1)
}

async function rowOf(baseUrl: string, page: string, reports: readonly Report[]): Promise<Record<string, string | number>> {
  const figure = (id: string) => median(reports.map(({ audits }) => audits[id]?.numericValue ?? Number.NaN))
  const kilobytes = (...types: string[]) => median(reports.map(report => transferred(report, types)))
  const lcp = figure(LCP)
  const fonts = kilobytes('Font')
  const all = kilobytes()
  const html = await (await fetch(`${baseUrl}${page}`)).text()
  const css = standingIn(html, 'style')
  const script = standingIn(html, 'script')
  return {
    page,
    ...Object.fromEntries(
      Object.keys(reports[0]?.categories ?? {}).map(category => {
        const score = median(reports.map(report => scoreOf(report, category)))
        return [category, marked(String(score), score >= TARGET.score)]
      }),
    ),
    'LCP ms': marked(String(Math.round(lcp)), lcp <= TARGET.lcpMs),
    CLS: marked(String(figure('cumulative-layout-shift')), figure('cumulative-layout-shift') <= TARGET.cls),
    'page kB': marked(String(all), all <= TARGET.pageKilobytes),
    'fonts kB': fonts,
    'CSS kB': marked(String(css), css <= TARGET.cssKilobytes),
    'script kB': marked(String(script), script <= TARGET.scriptKilobytes),
  }
}

/** 0 to 100, without the audit that pages fail which are not to be indexed. */
function scoreOf({ categories, audits }: Report, category: string): number {
  const counted = (categories[category]?.auditRefs ?? []).filter(({ id, weight }) => {
    return weight > 0 && id !== NOT_INDEXED && audits[id]?.score != null
  })
  const weights = counted.reduce((sum, { weight }) => sum + weight, 0)
  const points = counted.reduce((sum, { id, weight }) => sum + weight * (audits[id]?.score ?? 0), 0)
  return weights === 0 ? 100 : Math.round((100 * points) / weights)
}

/** Kilobytes of the styles or scripts that stand in a page, without the rules of fonts, compressed by themselves. */
function standingIn(html: string, element: 'style' | 'script'): number {
  const texts = [...html.matchAll(new RegExp(`<${element}[^>]*>([\\s\\S]*?)</${element}>`, 'g'))].map(([, text = '']) =>
    text.replace(/@font-face\{.*?\}/gs, ''),
  )
  return Math.round(gzipSync(texts.join('\n'), { level: 9 }).length / 100) / 10
}

/** Kilobytes over the line. @param types of resources; none: all */
function transferred({ audits }: Report, types: readonly string[]): number {
  const requests = (audits['network-requests']?.details?.items ?? []) as Request[]
  const counted = requests.filter(({ resourceType = '' }) => types.length === 0 || types.includes(resourceType))
  return Math.round(counted.reduce((sum, { transferSize }) => sum + transferSize, 0) / 100) / 10
}
