import type { Warning } from '#core/contract/shared.ts'
import { parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { say } from '#core/words/findings.ts'
import type { ParsedSkill } from './skill.ts'
import type { Policy } from './withheld.ts'

/** The part of a planned skill that says how it lies to others. */
interface Nesting<Skill> {
  skill: Pick<ParsedSkill, 'path' | 'directory'>
  enclosing: Skill | null
  nested: Skill[]
  warnings: Warning[]
}

/** Sets `enclosing` and `nested` of every skill, and warns of skills inside others, which may be there by mistake. */
export function connectNested<Skill extends Nesting<Skill>>(skills: readonly Skill[], policy: Policy): void {
  const byDirectory = new Map(skills.map(planned => [planned.skill.directory, planned]))
  const enclosing = new Map<RepoPath, Skill>()
  for (const { path } of policy.folders) {
    const outer = path === '' ? undefined : enclosing.get(parentOf(path))
    const own = byDirectory.get(path)
    if (own && outer) {
      own.enclosing = outer
      outer.nested.push(own)
    }
    const next = own ?? outer
    if (next) enclosing.set(path, next)
  }
  for (const planned of skills) {
    planned.nested.sort((left, right) => compareBytes(left.skill.path, right.skill.path))
    if (carriesOthers(planned)) continue
    const message = say('skill.nested', { path: planned.skill.path })
    for (const { warnings } of planned.nested) warnings.push({ code: 'skill.nested', message })
  }
}

/** A skill at the root, or with several skills below it, leads to them or installs them: they are there on purpose. */
function carriesOthers({ skill, nested }: Pick<Nesting<unknown>, 'skill' | 'nested'>): boolean {
  return skill.directory === ROOT || nested.length >= CARRIED_SKILLS
}

const CARRIED_SKILLS = 3
