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
 * polynomial time. It is installed into a folder of its own, with the part that is plain JavaScript.
 */

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = '{api,bin,core,indexer,infra,site}/**/*.{ts,mjs,astro}'
const CHECKER = 'recheck@4.5.0'

interface Literal {
  place: string
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
  check = (source, flags) => checkSync(source, flags, { timeout: 60_000, checker: 'automaton' })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Every literal of the file, those between the dashes of an Astro file too. */
function literalsOf(file: string): Literal[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const code = file.endsWith('.astro') ? (/^---\n(.*?)\n---$/ms.exec(text)?.[1] ?? '') : text
  const parsed = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS)
  const found: Literal[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const { line } = parsed.getLineAndCharacterOfPosition(node.getStart())
      found.push({ place: `${file}:${line + 1}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
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

test('v5.0.0-1.3.12: no regular expression of the sources takes more than linear time', () => {
  const literals = globSync(SOURCES, { cwd: ROOT }).flatMap(literalsOf)
  const distinct = new Map(literals.map(literal => [`/${literal.source}/${literal.flags}`, literal]))
  expect(distinct.size).toBeGreaterThan(300)
  const slow = [...distinct].flatMap(([text, { place, source, flags }]) => {
    const { status, complexity, error } = check(source, flags)
    return status === 'safe' ? [] : [`${place} ${text} ${complexity?.summary ?? error?.kind}`]
  })
  expect(slow).toEqual([])
})
