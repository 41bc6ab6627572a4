import { expect, test } from 'vitest'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import { foundInSkill, type SkillText } from '#indexer/rules/found.ts'
import { finding } from '#words/findings.ts'

const PATH = 'a/SKILL.md'
const FRONT_MATTER = '---\nname: a\ninclude: [gone.md]\n---\n'

const LICENSE = { kind: 'none', name: null, source: null } as const

const found = (warnings: WarningRow[], texts: readonly SkillText[] = []) =>
  foundInSkill({ path: PATH, row: { warnings, diagnostics: [], license: LICENSE }, texts, links: () => [] })

function linesOf(target: string, own: string, rules = ''): string[] {
  const texts = [
    { path: PATH, text: FRONT_MATTER + own },
    { path: 'SKILLSET.md', text: `---\n---\n${rules}` },
  ]
  return found([finding('reference.broken', { target })], texts).map(({ path, line }) => `${path}:${line ?? ''}`)
}

test.each([
  ['as it is written', 'gone.md', 'Text.\n\n[x](gone.md)\n', '', 'a/SKILL.md:7'],
  ['not in the front matter', 'gone.md', 'Text.\n', '\n[x](gone.md)\n', 'SKILLSET.md:4'],
  ['not where its name is only a part of another', 'one.md', '[x](../gone.md)\n', '[x](one.md "One")\n', 'SKILLSET.md:3'],
  ['not where its name is only a word', 'gone.md', 'About gone.md.\n', '[x]\n\n[x]: gone.md\n', 'SKILLSET.md:5'],
  ['in angle brackets', 'a b.md', '[x](<a b.md>)\n', '', 'a/SKILL.md:5'],
  ['of an unsupported form', 'a(b).md', '[x](a\\(b).md)\n', '', 'a/SKILL.md:'],
])('a broken link is reported with the file and line of the link: %s', (_name, target, own, rules, expected) => {
  expect(linesOf(target, own, rules)).toEqual([expected])
})

test.each([
  ['front_matter.invalid', 'error'],
  ['front_matter.unterminated', 'error'],
  ['front_matter.missing', 'warning'],
])('%s is told alone, without the fields that are missing because of it', (code, severity) => {
  const missing = ['name', 'description'].map(field => ({ code: `${field}.missing`, field }))
  expect(found([{ code }, ...missing]).map(one => [one.code, one.severity])).toEqual([[code, severity]])
})
