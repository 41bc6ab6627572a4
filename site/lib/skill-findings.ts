import { FindingLevel, type Warning } from '#core/contract/shared.ts'
import type { Skill } from '#core/contract/skill.ts'
import { BODY_LONG_BYTES } from '#core/limits.ts'
import type { PageKey, Values } from '#words/t.ts'
import { lineOfFinding, unquotedField } from './finding.ts'
import type { Ui } from './ui.ts'

/** In the order of what matters. */
export function byLevel(warnings: readonly Warning[]): Warning[] {
  return FindingLevel.options.flatMap(level => warnings.filter(warning => warning.level === level))
}

/** The sentence of a finding on the page of its skill, which shows what it is about; `null` where the usual one says it as well. */
export function sentenceOfSkill(
  finding: Warning,
  { bodyFragment }: Pick<Skill, 'bodyFragment'>,
  { bytes }: Pick<Ui, 'bytes'>,
): { key: PageKey; values: Values } | null {
  const line = lineOfFinding(finding)
  switch (finding.code) {
    case 'body.long': {
      const size = bodyFragment?.totalBytes ?? 0
      return size > BODY_LONG_BYTES ? { key: 'skill.found.long', values: { size: bytes(size) } } : null
    }
    case 'description.missing':
      return { key: 'skill.found.noDescription', values: {} }
    case 'front_matter.repaired':
      return finding.field === undefined && line !== null ? notYaml(line, unquotedField(finding)) : null
    default:
      return null
  }
}

function notYaml(line: number, field: string | undefined): { key: PageKey; values: Values } {
  return field === undefined
    ? { key: 'skill.found.notYaml', values: { n: line } }
    : { key: 'skill.found.unquoted', values: { n: line, field } }
}
