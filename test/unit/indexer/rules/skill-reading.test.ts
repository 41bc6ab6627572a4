import { expect, test } from 'vitest'
import { readSkillText } from '#indexer/rules/skill.ts'

test.each([
  ['a line below it that its author forgot to indent', '---\nname: a\nlicense: MIT\nNot for commercial use\n---\nText.\n', true],
  ['the same without an end of the front matter', '---\nname: a\nlicense: MIT\nfor members only\n\nText.\n', true],
  ['another value below', '---\nname: a\nlicense: MIT\nlicense: Proprietary\n---\nText.\n', true],
  ['a blank line below, and no end of the front matter', '---\nname: a\nlicense: MIT\n\nText.\n', false],
  ['such a line below another field', '---\nlicense: MIT\nname: a\nnot indented\n---\nText.\n', false],
])('a license counts only as its author wrote it: %s', (_, text, isHidden) => {
  expect(readSkillText(text)).toMatchObject({ fields: { license: 'MIT' }, hidesLicense: isHidden })
})
