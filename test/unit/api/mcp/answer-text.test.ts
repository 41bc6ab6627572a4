import { expect, test } from 'vitest'
import { findText } from '#api/mcp/answer-text.ts'
import type { FailedAnswer, IndexingAnswer } from '#core/contract/shared.ts'

const COMMIT = 'a'.repeat(40)
const STATES: readonly (IndexingAnswer | FailedAnswer)[] = [
  { status: 'indexing', commit: COMMIT },
  { status: 'failed', commit: COMMIT, errorCode: 'index.too_large', retryAt: '2026-11-27T00:00:00.000Z' },
]

test.for([
  [true, 'in this state', 'at this commit'],
  [false, 'at this commit', 'in this state'],
] as const)('for a working folder (%j), a text without contents says %j', ([isWorkingFolder, said, other]) => {
  const context = {
    address: 'local/acme/tools',
    tool: 'search_repo',
    arguments: {},
    isWorkingFolder,
    isSourceServed: true,
    maxBytes: 1_000,
  }
  for (const state of STATES) {
    const text = findText(state, context)
    expect(text).toContain(said)
    expect(text).not.toContain(other)
  }
})
