import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// V8 passes over a flag that it does not know, and a job would only take longer, or hold more.
test.each(['compiler', 'heap'])('V8 knows the flags of %s.ts', module => {
  const source = readFileSync(new URL(`../../../../indexer/pipeline/${module}.ts`, import.meta.url), 'utf8')
  const flags = [...source.matchAll(/[`'](--[a-z0-9-]+)=/g)].map(([, flag]) => flag)
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  expect(flags.length).toBeGreaterThan(1)
  expect(flags.filter(flag => !known.includes(`  ${flag} (`))).toEqual([])
})
