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
 * polynomial time. It is installed into a folder of its own. It cannot tell of those that look around or back.
 */

const ROOT = join(import.meta.dirname, '..', '..')
/** Without `bin`, which reads what somebody typed at the own terminal. */
const SOURCES = '{api,cli,core,indexer,infra,site}/**/*.{ts,mjs,astro}'
/** No limit that a machine can meet: the slowest takes 3 s, and all of them a minute of one processor. */
const PATIENCE_MS = 300_000
const CHECKER = 'recheck@4.5.0'
/** The same as a program. Where there is none for a machine, the checker is plain JavaScript, which takes ten times as long. */
const PROGRAMS = { 'linux x64': 'recheck-linux-x64', 'darwin x64': 'recheck-macos-x64', 'darwin arm64': 'recheck-macos-arm64' }

/**
 * Of these, the time grows with the square of the length, or seems to since a bound was left out. What they read is short, or was written for
 * this project. A word, a line and a header of a stranger are not short.
 */
const OF_SHORT_TEXTS = new Map([
  [`${String.raw`/\[([^\]]+)\]\((\w+)\)|`}\`([^\`]+)\`${String.raw`|\{(\w+)\}/g`}`, 'words of the site'],
  ['/<[^>]*>/g', 'pages of the documentation'],
  ['/<h2 id="([^"]*)">(.*?) <a class="anchor"/g', 'pages of the documentation'],
  [String.raw`/^\.+|(?:\.git)+$/g`, 'the name of one folder'],
  [String.raw`/(https?:\/\/[^\s?#]*)[?#]\S*/g`, '1,200 characters'],
  [String.raw`/\d+\.\d+/`, 'what git says of its version'],
  [String.raw`/(.{70}\S*) /g`, 'a page that is made for the purpose'],
  [
    String.raw`/unless\s+you\s+explicitly\s+state\s[^<>]{0,500}?\bconditions\b\.?/gi`,
    '3,000 characters, and 500 from each beginning',
  ],
  [String.raw`/[0-9a-f-]+\.svg$/`, 'an address that a library makes'],
  [
    String.raw`/^(?:CC0-1\.0|CC-BY-\d.*|CC-BY-SA-\d.*|PDDL-1\.0|ODC-By-1\.0|ODbL-1\.0|CDLA-Permissive-.*|GFDL-.*-no-invariants-.*|WTFPL|FSFAP|X11|curl|BSD-[1-4]-Clause.*|BSD-Source-Code|BlueOak-.*|GPL-[23]\.0-with-.*)$/`,
    'a part of a license expression of at most 400 characters',
  ],
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
let check: (source: string, flags: string) => Promise<Verdict>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-recheck-'))
  await writeFile(join(folder, 'package.json'), '{"private":true}\n')
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional']
  const program = Object.entries(PROGRAMS).find(([machine]) => machine === `${process.platform} ${process.arch}`)?.[1]
  const packages = [CHECKER, ...(program === undefined ? [] : [CHECKER.replace('recheck', program)])]
  await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: folder })
  process.env.RECHECK_BACKEND = program === undefined ? 'pure' : 'native'
  const recheck = createRequire(join(folder, 'package.json'))('recheck') as {
    check(source: string, flags: string, options: object): Promise<Verdict>
  }
  check = (source, flags) => recheck.check(unbounded(source), flags, { timeout: PATIENCE_MS, checker: 'automaton' })
})
afterAll(() => {
  delete process.env.RECHECK_BACKEND
  return rm(folder, { recursive: true, force: true })
})

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

test('the checker detects slow expressions', async () => {
  expect(await check('^(a+)+$', '')).toMatchObject({ status: 'vulnerable', complexity: { type: 'exponential' } })
  expect(await check('^a*a*$', '')).toMatchObject({ status: 'vulnerable', complexity: { type: 'polynomial' } })
})

test(
  'v5.0.0-1.3.12: no regular expression of the sources takes exponential time, and those that read long texts are linear',
  async () => {
    const files = globSync(SOURCES, { cwd: ROOT, exclude: ['**/dist/**'] })
    const literals = files.flatMap(literalsOf).filter(isRepeating)
    const distinct = new Map(literals.map(literal => [`/${literal.source}/${literal.flags}`, literal]))
    expect(distinct.size).toBeGreaterThan(200)
    const found = await Promise.all(
      [...distinct].map(async ([text, { file, source, flags }]) => {
        const { status, complexity, error } = await check(source, flags)
        return { file, text, status, type: complexity?.type, error: error?.kind }
      }),
    )
    const unfinished = found.filter(({ status, error }) => status === 'unknown' && error !== 'unsupported')
    expect(unfinished).toEqual([])
    const slow = found.filter(({ status }) => status === 'vulnerable')
    expect(slow.filter(({ type }) => type === 'exponential')).toEqual([])
    expect(slow.filter(({ text }) => !OF_SHORT_TEXTS.has(text))).toEqual([])
    // One that is gone, or that was mended, leaves the list.
    expect([...OF_SHORT_TEXTS.keys()].filter(text => slow.every(one => one.text !== text))).toEqual([])
  },
  2 * PATIENCE_MS,
)
