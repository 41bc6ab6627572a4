import { FindingLevel, type Warning } from '#core/contract/shared.ts'
import type { Skill } from '#core/contract/skill.ts'
import { BODY_LONG_BYTES } from '#core/limits.ts'
import type { PageKey, Values } from '#words/t.ts'
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
  switch (finding.code) {
    case 'body.long': {
      const size = bodyFragment?.totalBytes ?? 0
      return size > BODY_LONG_BYTES ? { key: 'skill.found.long', values: { size: bytes(size) } } : null
    }
    case 'description.missing':
      return { key: 'skill.found.noDescription', values: {} }
    default:
      return null
  }
}
