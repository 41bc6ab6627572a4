import { expect, test } from 'vitest'
import { parseRepositoryRule } from '#api/operator/repository-rule.ts'

test.for([
  ['gh/acme/*', 'gh', 'acme', 'tools', true],
  ['gh/acme/*', 'gh', 'ACME', 'Tools', true],
  ['gh/acme/*', 'gh', 'acme-labs', 'tools', false],
  ['local/acme/*', 'local', 'ACME', 'tools', false],
  ['gh/*/*', 'local', 'acme', 'tools', false],
  ['*/acme/tools', 'local', 'acme', 'tools', true],
  ['gh/acme/skill-*-v*', 'gh', 'acme', 'skill-pdf-v2', true],
  ['gh/acme/skill-*-v*', 'gh', 'acme', 'skill-v2', false],
  ['gh/acme/a*a', 'gh', 'acme', 'a', false],
  ['gh/acme/a*a', 'gh', 'acme', 'aa', true],
  ['gh/acme/a.b', 'gh', 'acme', 'axb', false],
] as const)('%s matches %s/%s/%s: %s', ([pattern, host, owner, repository, meant]) => {
  expect(parseRepositoryRule(pattern)?.({ host, owner, repository })).toBe(meant)
})

test.for(['', 'gh', 'gh/acme', 'gh/acme/', '/acme/tools', 'gh/acme/tools/docs', 'gh/ac me/tools', 'gh/[a]/b'])(
  '"%s" is no pattern',
  text => {
    expect(parseRepositoryRule(text)).toBeNull()
  },
)

test('a pattern of many stars answers at once', () => {
  const rule = parseRepositoryRule(`gh/acme/${'*a'.repeat(40)}b`)
  expect(rule?.({ host: 'gh', owner: 'acme', repository: 'a'.repeat(100) })).toBe(false)
})
