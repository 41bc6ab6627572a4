import { expect, test } from 'vitest'
import type { ChangeFacts, ChangeItem } from '#core/contract/changes.ts'
import { type FailOn, failuresOf } from '#indexer/check/fail-on.ts'

const document = (facts: ChangeFacts) =>
  ({ kind: 'document', path: 'a.md', title: 'A', change: 'changed', parts: [], before: null, after: null, facts }) as ChangeItem
const failures = (facts: ChangeFacts, ...wanted: FailOn[]) => failuresOf({ items: [document(facts)], errors: [] }, wanted)
const place = { path: 'a.md', line: 1 }

test.each<[FailOn, ChangeFacts]>([
  ['hidden-text', { hiddenCharacters: [{ ...place, codePoint: 'U+202E', count: 1 }] }],
  ['hosts', { hosts: [{ ...place, host: 'x.example' }] }],
  ['commands', { commands: [{ ...place, command: 'sudo ls' }] }],
  ['executables', { executables: ['a.sh'] }],
  ['allowed-tools', { allowedTools: { before: null, after: 'Read' } }],
  ['description', { description: { before: 'Before.', after: 'After.' } }],
  ['hidden-text', { truncated: ['hiddenCharacters'] }],
  ['commands', { truncated: ['commands'] }],
])('%s is found in %j, and nothing else', (kind, facts) => {
  const others: FailOn[] = ['hidden-text', 'hosts', 'commands', 'executables', 'allowed-tools', 'description', 'body', 'added']
  expect(failures(facts, ...others)).toEqual([kind])
})
