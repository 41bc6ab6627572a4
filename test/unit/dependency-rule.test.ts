import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

/** Who imports what. Every row is one file of its own in a copy of the layout, read by the real `biome.json`. */
const FORBIDDEN: [importer: string, specifier: string][] = [
  ['core/contract/a.ts', 'fastify'],
  ['core/contract/a.ts', 'node:fs'],
  ['core/a.ts', '#infra/disk/blob-store.ts'],
  ['core/contract/a.ts', '../../indexer/jobs/worker.ts'],
  ['core/contract/a.ts', '../../words/t.ts'],
  ['words/en/a.ts', '#core/text.ts'],
  ['words/en/a.ts', 'zod'],
  ...['infra', 'indexer', 'api', 'site'].flatMap(part =>
    ['infra', 'indexer', 'api', 'site', 'cli', 'test'].map((other): [string, string] => [`${part}/room/a.ts`, `#${other}/b.ts`]),
  ),
  ['infra/open.ts', '#api/app.ts'],
  ['infra/disk/a.ts', 'fastify'],
  ['indexer/a.ts', 'fastify'],
  ['indexer/rules/a.ts', '../../api/app.ts'],
  ['api/app.ts', 'astro'],
  ['site/lib/a.ts', '../../api/app.ts'],
  ['site/lib/a.ts', 'fastify'],
  ['site/server.ts', '#api/app.ts'],
  ['site/pages/a.astro', '#infra/disk/blob-store.ts'],
  ['site/pages/a.astro', 'fastify'],
  ['cli/a.ts', '#test/support/a.ts'],
  ['cli/a.ts', '#cli/b.ts'],
  ['cli/a.ts', '../api/app.ts'],
]

const PERMITTED: [importer: string, specifier: string][] = [
  ['core/contract/a.ts', 'zod'],
  ['core/contract/a.ts', '../text.ts'],
  ...['infra', 'indexer', 'api', 'site', 'cli'].map((part): [string, string] => [`${part}/room/a.ts`, '#core/text.ts']),
  ...['core', 'infra', 'indexer', 'api', 'site', 'cli'].map((part): [string, string] => [`${part}/room/a.ts`, '#words/t.ts']),
  ['words/de/a.ts', '../en/a.ts'],
  ['infra/disk/a.ts', 'node:sqlite'],
  ['infra/local/a.ts', '../git/reader.ts'],
  ['infra/open.ts', './disk/blob-store.ts'],
  ['indexer/rules/a.ts', 'markdown-it'],
  ['api/app.ts', 'fastify'],
  ['api/mount/a.ts', '../deps.ts'],
  ['site/server.ts', 'fastify'],
  ['site/pages/a.astro', '../lib/links.ts'],
  ...['infra', 'indexer', 'api', 'site'].map((part): [string, string] => ['cli/serve.ts', `#${part}/a.ts`]),
  ['cli/lock/a.ts', '../say.ts'],
  ['test/unit/a.test.ts', '#infra/disk/blob-store.ts'],
  ['test/unit/a.test.ts', '#cli/serve.ts'],
]

let reported: Map<string, string>

beforeAll(async () => {
  const files = new Map(
    [...FORBIDDEN, ...PERMITTED].map(([importer, specifier]) => [
      importer + specifier,
      { importer, source: `import '${specifier}'\n` },
    ]),
  )
  files.set('value', { importer: 'api/mount/value.ts', source: "export { b } from '#infra/open.ts'\n" })
  files.set('type', { importer: 'api/mount/type.ts', source: "export type { B } from '#infra/open.ts'\n" })
  files.set('dynamic', { importer: 'api/mount/dynamic.ts', source: "await import('#infra/open.ts')\n" })
  files.set('script', { importer: 'site/pages/s.astro', source: "<script>\nimport '#api/app.ts'\n</script>\n" })
  files.set('cycle', { importer: 'core/left.ts', source: "import type { R } from './right.ts'\nexport type L = R | 0\n" })
  files.set('cycle back', { importer: 'core/right.ts', source: "import type { L } from './left.ts'\nexport type R = L | 1\n" })
  reported = await lint(files)
})

test.each(FORBIDDEN)('%s does not import %s', (importer, specifier) => {
  expect(reported.get(importer + specifier)).toContain('lint/style/noRestrictedImports')
})

test.each(PERMITTED)('%s may import %s', (importer, specifier) => {
  expect(reported.get(importer + specifier)).toBe('')
})

test.each(['value', 'type', 'dynamic', 'script'])('a forbidden import is also seen as: %s', form => {
  expect(reported.get(form)).toContain('lint/style/noRestrictedImports')
})

test('a cycle of types is a cycle', () => {
  expect(reported.get('cycle')).toContain('lint/suspicious/noImportCycles')
})

let places: string[] = []

/**
 * Lints each file in the layout of the project.
 *
 * Files of the same name get a copy of the layout each, so there are as many runs as rows for the most used name.
 *
 * @returns the rules that were broken, by the key of the file; empty for none
 */
async function lint(files: Map<string, { importer: string; source: string }>): Promise<Map<string, string>> {
  const rounds: Map<string, { key: string; source: string }>[] = []
  for (const [key, { importer, source }] of files) {
    const round = rounds.find(candidate => !candidate.has(importer)) ?? new Map<string, { key: string; source: string }>()
    if (!rounds.includes(round)) rounds.push(round)
    round.set(importer, { key, source })
  }
  const found = new Map<string, string>()
  for (const round of rounds) {
    const place = await mkdtemp(join(tmpdir(), 'mountglass-rule-'))
    places.push(place)
    await copyFile(join(ROOT, 'biome.json'), join(place, 'biome.json'))
    await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'), 'junction')
    execFileSync('git', ['init', '--quiet', place])
    for (const [importer, { source }] of round) {
      await mkdir(dirname(join(place, importer)), { recursive: true })
      await writeFile(
        join(place, importer),
        importer.endsWith('.astro') && !source.startsWith('<') ? `---\n${source}---\n` : source,
      )
    }
    const broken = runBiome(place)
    for (const [importer, { key }] of round) found.set(key, broken.get(importer)?.join(' ') ?? '')
  }
  return found
}

/** @returns the categories of the diagnostics of each file */
function runBiome(place: string): Map<string, string[]> {
  const biome = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const rules = ['--only=style/noRestrictedImports', '--only=suspicious/noImportCycles']
  let report: string
  try {
    report = execFileSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none', ...rules], {
      cwd: place,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch (error) {
    report = (error as { stdout: string }).stdout
  }
  const broken = new Map<string, string[]>()
  for (const { category, location } of (
    JSON.parse(report) as { diagnostics: { category: string; location: { path: unknown } }[] }
  ).diagnostics) {
    const path = typeof location.path === 'string' ? location.path : String((location.path as { file?: string } | null)?.file)
    broken.set(path, [...(broken.get(path) ?? []), category])
  }
  return broken
}

afterAll(async () => {
  await Promise.all(places.map(place => rm(place, { recursive: true, force: true })))
  places = []
})
