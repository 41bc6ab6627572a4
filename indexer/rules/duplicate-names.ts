import type { Warning } from '#core/contract/shared.ts'
import { TITLE_CHARACTERS } from '#core/limits.ts'
import { comparePlaces } from '#core/skill-places.ts'
import { say } from '#core/words/findings.ts'
import { shortLine } from './short-line.ts'
import type { ParsedSkill } from './skill.ts'

/** The part of a planned skill that its name is compared by. */
interface Named<Skill> {
  skill: Pick<ParsedSkill, 'path' | 'name' | 'internal'>
  copyOf: Skill | null
  warnings: Warning[]
}

/** Warns of different skills that have one name. Copies are one skill: it has no conflict with itself. */
export function warnOfDuplicates<Skill extends Named<Skill>>(skills: readonly Skill[]): void {
  const listed = skills.filter(planned => !planned.skill.internal)
  for (const same of Map.groupBy(listed, planned => planned.skill.name).values()) {
    const originals = same.filter(({ copyOf }) => copyOf === null)
    if (originals.length < 2) continue
    originals.sort((left, right) => comparePlaces(left.skill.path, right.skill.path))
    for (const planned of same) {
      const [first, ...more] = originals.filter(other => other !== (planned.copyOf ?? planned))
      if (first) planned.warnings.push(duplicate(first, more.length))
    }
  }
}

function duplicate({ skill }: Pick<Named<unknown>, 'skill'>, n: number): Warning {
  const key = n === 0 ? 'name.duplicate' : 'name.duplicate:more'
  return { code: 'name.duplicate', field: 'name', message: say(key, { path: shortLine(skill.path, TITLE_CHARACTERS), n }) }
}
