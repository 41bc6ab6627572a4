import { expect, test } from 'vitest'
import { ServiceError } from '#core/errors.ts'
import { countsOf, sharedFacts, tokensOf, whatOf } from '#indexer/check/difference-words.ts'
import { failureIn, messageIn, SentenceError } from '#words/sentence.ts'
import { formatNumber, formatTenths, t } from '#words/t.ts'

test('numbers have marks between thousands, and a counted word has the form of its number', () => {
  expect([formatNumber(12_345), formatTenths(1234.25)]).toEqual(['12,345', '1234.3'])
  expect([0, 1, 1_200].map(n => t('counts.error', { n }))).toEqual(['0 errors', '1 error', '1,200 errors'])
})

test('a key asks for a value for each of its gaps', () => {
  // @ts-expect-error: the URL is missing
  expect(t('serve.answers')).toContain('{url}')
  // @ts-expect-error: the number of a counted word is a number
  expect(t('counts.error', { n: '1' })).toBe('1 error')
  // @ts-expect-error: there is no such sentence
  expect(t('serve.nothingAtAll')).toBe('serve.nothingAtAll')
})

test('a sentence has the messages of the errors in it, and no credentials', () => {
  const problem = t('problem.or', { first: new ServiceError('token.limit'), last: 'https://user:secret@host.example/' })
  expect(t('problem.ofText', { text: '{problem}', problem })).toBe(
    '{problem}: one person holds at most 50 tokens; delete one that is no longer used or https://[credential]@host.example/',
  )
})

test('an error without a sentence is printed as unexpected', () => {
  expect(messageIn(new Error('disk full'))).toBe('disk full')
  expect(messageIn('plain')).toBe('plain')
  expect(failureIn(new SentenceError('no folder\nsays git'))).toBe('no folder')
  expect(failureIn(new Error('disk full'))).toBe('unexpected: disk full (MOUNTGLASS_LOG=debug tells where)')
})

test('changes are described with the names of the parts', () => {
  const item = {
    kind: 'skill',
    path: 'b/SKILL.md',
    change: 'moved',
    movedFrom: 'a/SKILL.md',
    parts: ['body', 'rules'],
    causes: [{ part: 'rules', path: 'SKILLSET.md', change: 'removed' }],
    facts: { executables: ['x.sh'], allowedTools: { before: null, after: 'Read' } },
    before: { tokens: 1_200 },
    after: { tokens: null },
  } as unknown as Parameters<typeof whatOf>[0]
  const none = { added: 0, removed: 0, changed: 0, moved: 0 }
  const counts = { manifests: none, skills: { ...none, changed: 2, added: 1 }, documents: { ...none, removed: 1 } }
  expect([
    whatOf(item, []),
    tokensOf([item]),
    ...sharedFacts([item]).map(({ text }) => text),
    countsOf({ counts, notCompared: { skills: 0, documents: 0 } }),
  ]).toEqual([
    'moved from a/SKILL.md; body; rules by SKILLSET.md (removed)',
    '~1,200 → ~0 tokens',
    'allowed-tools: none → Read',
    'new executable file: x.sh',
    '2 skills changed, 1 added; 1 document removed',
  ])
})
