import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { isDamage } from '#core/snapshot/damage.ts'
import { describeSkill } from '#indexer/rules/skill.ts'
import { decodeSkillReading, encodeSkillReading, readSkillText } from '#indexer/rules/skill-reading.ts'
import { parseSkill } from '#test/support/parse-skill.ts'
import { createRandom } from '#test/support/random.ts'

const stored = (text: string) => decodeSkillReading(encodeSkillReading(readSkillText(text)) as string)

describe('a reading from the store describes a skill as its text does', () => {
  const texts = Array.from({ length: 1_500 }, (_, seed) => randomSkill(createRandom('skill', seed)))

  test.each(['skills/pdf/SKILL.md', 'a/other/SKILL.md', 'SKILL.md'])('at %s', path => {
    for (const text of texts) {
      const described = describeSkill(path as RepoPath, text, stored(text), 'pdf')
      expect(JSON.stringify(described), text).toBe(JSON.stringify(parseSkill(path as RepoPath, text, 'pdf')))
    }
  })

  test('and none of them is damaged', () => {
    const codes = texts.flatMap(text => parseSkill('SKILL.md' as RepoPath, text, 'pdf').warnings.map(({ code }) => code))
    for (const code of ['front_matter.missing', 'front_matter.unterminated', 'front_matter.invalid', 'front_matter.repaired'])
      expect(codes).toContain(code)
  })
})

test('a reading holds no sentence of this program, which may change before the text does', () => {
  const json = encodeSkillReading(readSkillText('---\nname: a\ndescription: "open\n---\nText.\n'))
  expect(json).toContain('front_matter.repaired')
  expect(json).not.toMatch(/ (?:is|are|not|on line) /)
})

test('a reading with very many links is not kept', () => {
  const linking = (links: number) => encodeSkillReading(readSkillText('[a](b.md)\n'.repeat(links)))
  expect([linking(400) === null, linking(401)]).toEqual([false, null])
})

test.each<[string, (reading: Record<string, unknown>) => unknown]>([
  ['not JSON', () => undefined],
  ['no object', () => []],
  ['without fields', reading => ({ ...reading, fields: undefined })],
  ['with a list for fields', reading => ({ ...reading, fields: [] })],
  ['with a fault that does not exist', reading => ({ ...reading, fault: 'other' })],
  ['with a body that begins before the text', reading => ({ ...reading, bodyAt: -1 })],
])('a reading %s is damage', (_, change) => {
  const json = JSON.stringify(change({ ...readSkillText('---\nname: a\n---\nText.\n') })) ?? '{'
  let thrown: unknown = null
  try {
    decodeSkillReading(json)
  } catch (error) {
    thrown = error
  }
  expect(isDamage(thrown)).toBe(true)
})

const FENCES = ['---\n', '---\r\n', '--- \n', '\uFEFF---\n', ' ---\n', '', '...\n', '---']
const FIELDS = [
  'name: pdf\n',
  'name: 12\n',
  'name: "half \\ud83d"\n',
  'description: Reads.\n',
  'description: Use when: it rains\n',
  'description: "open\n',
  'license: MIT\n',
  'license: [a, {b: c}]\n',
  'metadata: {internal: "true", 10: ten, 2: two, __proto__: odd, tags: "a, b"}\n',
  '__proto__: {deep: 1}\n',
  'keywords: [forms, "two words"]\n',
  'numbers: [1.50, -0, 0x10, .inf, null, yes]\n',
  'include: [a.md, b/]\n',
  'translations: {de: {name: x}, nonsense-tag-: y}\n',
  'allowed-tools: Bash(git:*)\n',
  'hooks:\n  before:\n    - run: it\n',
  'name: again\n',
  '# a comment\n',
  '  indented: wrongly\n',
]
const BODIES = [
  '# Title\n',
  'First *paragraph*.\n\n',
  '[one](a.md) `b.md` ![c](d.png)\n',
  '<!-- hidden -->\n',
  '## More {#more}\n',
  'a\u202Eb\n',
  '\r\n',
]

function randomSkill(random: () => number): string {
  const some = (list: readonly string[], most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => list[Math.floor(random() * list.length)]).join('')
  const fence = () => (random() < 0.7 ? '---\n' : some(FENCES, 1))
  return `${fence()}${some(FIELDS, 5)}${fence()}${some(BODIES, 5)}`
}

test.each([
  ['a line below it that its author forgot to indent', '---\nname: a\nlicense: MIT\nNot for commercial use\n---\nText.\n', true],
  ['the same without an end of the front matter', '---\nname: a\nlicense: MIT\nfor members only\n\nText.\n', true],
  ['another value below', '---\nname: a\nlicense: MIT\nlicense: Proprietary\n---\nText.\n', true],
  ['a blank line below, and no end of the front matter', '---\nname: a\nlicense: MIT\n\nText.\n', false],
  ['such a line below another field', '---\nlicense: MIT\nname: a\nnot indented\n---\nText.\n', false],
])('a license counts only as its author wrote it: %s', (_, text, isHidden) => {
  expect(readSkillText(text)).toMatchObject({ fields: { license: 'MIT' }, hidesLicense: isHidden })
})
