import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// V8 goes on without a flag that it does not know: a job would take longer, or hold more.
const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })

test.each([
  ['compiler', 1],
  ['heap', 6],
])('V8 knows the flags of %s.ts', (module, count) => {
  const source = readFileSync(new URL(`../../../../indexer/pipeline/${module}.ts`, import.meta.url), 'utf8')
  const flags = new Set([...source.matchAll(/(--(?:no-)?[a-z0-9-]+)[=']/g)].map(([, flag]) => flag?.replace('--no-', '--')))
  expect(flags.size).toBe(count)
  expect([...flags].filter(flag => !known.includes(`  ${flag} (`))).toEqual([])
})

test('a long job optimizes after as many calls as V8 by itself', () => {
  expect(known).toContain('default: --invocation-count-for-turbofan=3000\n')
})
