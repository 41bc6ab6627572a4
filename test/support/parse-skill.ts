import type { RepoPath } from '#core/repo-path.ts'
import { describeSkill, type ParsedSkill } from '#indexer/rules/skill.ts'
import { readSkillText } from '#indexer/rules/skill-reading.ts'

/** A `SKILL.md` at a path, as a first commit reads it. */
export function parseSkill(path: RepoPath, text: string, repositoryName: string): ParsedSkill {
  return describeSkill(path, text, readSkillText(text), repositoryName)
}
