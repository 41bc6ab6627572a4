import { expect, test } from 'vitest'
import { createProgressLine } from '#cli/progress-line.ts'

const LONG_AGO = -60_000

function watched(change: { stdout?: boolean; stderr?: boolean; env?: NodeJS.ProcessEnv; startedAt?: number; columns?: number }) {
  const { stdout = true, stderr = true, env = {}, startedAt = LONG_AGO, columns = 80 } = change
  let written = ''
  const line = createProgressLine({
    startedAt,
    env,
    stdout: { isTTY: stdout },
    stderr: { isTTY: stderr, columns, write: text => (written += text) },
  })
  line.report({ stage: 'content', done: 200, total: 1_000 })
  line.end()
  return written
}

test('a command that reads for long shows on a terminal how far it is, and removes that at its end', () => {
  expect(watched({})).toMatch(/^\r\S\[K200 of 1000 files \(\d+\.\d s\)\r\S\[K$/)
  expect(watched({ columns: 10 })).toMatch(/^\r\S\[K200 of 10\r\S\[K$/)
})

test.each([
  ['stdout is no terminal', { stdout: false }],
  ['stderr is no terminal', { stderr: false }],
  ['it runs in CI', { env: { CI: 'true' } }],
  ['the terminal cannot rewrite a line', { env: { TERM: 'dumb' } }],
  ['it ends soon', { startedAt: Number.MAX_SAFE_INTEGER }],
])('a command shows no progress where %s', (_why, change) => {
  expect(watched(change)).toBe('')
})
