import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'

/*
 * Regular expressions read what strangers write. A checker that nobody here wrote looks for texts at which one of them takes exponential or
 * polynomial time. It is installed into a folder of its own, with the part that is plain JavaScript. Of a few it cannot tell: those that look
 * around or back, and some that have many alternatives.
 */

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = '{api,bin,core,indexer,infra,site}/**/*.{ts,mjs,astro}'
/** Each is given so long on a machine that does nothing else. */
const CHECK_MS = 5_000
const CHECKER = 'recheck@4.5.0'

/**
 * Of these, the time grows with the square of the length, or seems to since a bound was left out. They read single words, lines and headers, or
 * texts of this project. A new one is put here only once what it reads is known to be short.
 */
const OF_SHORT_TEXTS = new Set([
  'site/words/ui.ts /\\[([^\\]]+)\\]\\((\\w+)\\)|`([^`]+)`|\\{(\\w+)\\}/g',
  'site/lib/docs.ts /<[^>]*>/g',
  'site/lib/page-locals.ts /;.*$/',
  String.raw`api/pin.ts /\/+$/`,
  String.raw`infra/worktree/host.ts /^\.+|(?:\.git)+$/g`,
  String.raw`infra/local/place.ts /^gitdir: (.+?)\s*$/`,
  String.raw`infra/local/place.ts /[\r\n]+$/`,
  String.raw`infra/github/token-refusals.ts /(https?:\/\/[^\s?#]*)[?#]\S*/g`,
  String.raw`infra/git/process.ts /\d+\.\d+/`,
  String.raw`indexer/rules/short-line.ts /[\s,;:.–-]+$/u`,
  'indexer/rules/text-facts.ts /[.~_-]+$/',
  'indexer/rules/license/normalize.ts /[/.,;:*_]+$/',
  String.raw`indexer/rules/license/section.ts /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/`,
  String.raw`indexer/jobs/warm-up.ts /(.{70}\S*) /g`,
  String.raw`indexer/check/changes.ts / on lines? \d.*$/`,
  String.raw`api/search/passage/cut.ts /[\s·,;:–-]+$/u`,
  String.raw`api/pictures/draw-card.ts /[0-9a-f-]+\.svg$/`,
  String.raw`api/mcp/tokens.ts /\s+\S{0,30}$/`,
  'api/http/client-network.ts /%.*$/',
])

interface Literal {
  file: string
  source: string
  flags: string
}

interface Verdict {
  status: 'safe' | 'vulnerable' | 'unknown'
  complexity?: { type: string; summary: string }
  error?: { kind: string }
}

let folder: string
let check: (source: string, flags: string) => Verdict
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-recheck-'))
  await writeFile(join(folder, 'package.json'), '{"private":true}\n')
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional']
  await promisify(execFile)('npm', ['install', ...options, CHECKER], { cwd: folder })
  process.env.RECHECK_BACKEND = 'pure'
  const { checkSync } = createRequire(join(folder, 'package.json'))('recheck') as {
    checkSync(source: string, flags: string, options: object): Verdict
  }
  check = (source, flags) => checkSync(unbounded(source), flags, { timeout: CHECK_MS, checker: 'automaton' })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Counts are left out, which the checker would unroll: what is linear without a bound is so with one. */
function unbounded(source: string): string {
  return source.replace(/\{(\d+)(,?)(\d*)\}/g, (all, least: string, comma: string, most: string) => {
    const isSmall = comma === '' || most !== '' ? Number(most || least) < 5 : false
    return isSmall ? all : least === '0' ? '*' : '+'
  })
}

/** Whether something of it is repeated. */
function isRepeating({ source }: Literal): boolean {
  return /[*+]/.test(unbounded(source).replace(/\\./g, ''))
}

/** Every literal of the file, those between the dashes of an Astro file too. */
function literalsOf(file: string): Literal[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const code = file.endsWith('.astro') ? (/^---\n(.*?)\n---$/ms.exec(text)?.[1] ?? '') : text
  const parsed = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS)
  const found: Literal[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  return found
}

test('the checker finds what takes too long', () => {
  expect(check('^(a+)+$', '')).toMatchObject({ status: 'vulnerable', complexity: { type: 'exponential' } })
  expect(check('^a*a*$', '')).toMatchObject({ status: 'vulnerable', complexity: { type: 'polynomial' } })
})

test('v5.0.0-1.3.12: no regular expression of the sources takes exponential time, and those that read long texts are linear', () => {
  const files = globSync(SOURCES, { cwd: ROOT, exclude: ['**/dist/**'] })
  const literals = files.flatMap(literalsOf).filter(isRepeating)
  const distinct = new Map(literals.map(literal => [`/${literal.source}/${literal.flags}`, literal]))
  expect(distinct.size).toBeGreaterThan(200)
  const slow = [...distinct].flatMap(([text, { file, source, flags }]) => {
    const { status, complexity } = check(source, flags)
    if (status !== 'vulnerable') return []
    const isKnown = complexity?.type === 'polynomial' && [...OF_SHORT_TEXTS].some(one => one.endsWith(` ${text}`))
    return isKnown ? [] : [`${file} ${text} ${complexity?.summary}`]
  })
  expect(slow).toEqual([])
})
