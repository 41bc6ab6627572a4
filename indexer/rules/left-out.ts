import { INDEX_PROCESSOR_SECONDS, INDEXED_TEXT_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { finding } from '#words/findings.ts'
import { limitDiagnostic, type Plan } from './plan.ts'
import type { TreeFile } from './tree.ts'

/**
 * The plan without files for which the time of the job did not suffice, and without the skills whose `SKILL.md` is one of them. Files of such a skill that
 * were read, since another one includes them, belong to none.
 */
export function withoutFiles(plan: Plan, late: ReadonlySet<RepoPath>): Plan {
  if (late.size === 0) return plan
  const isKept = ({ path }: TreeFile) => !late.has(path)
  const skills = plan.skills.filter(({ file }) => isKept(file))
  for (const planned of skills) {
    planned.nested = planned.nested.filter(({ file }) => isKept(file))
    planned.supporting = planned.supporting.filter(isKept)
  }
  const files = plan.files
    .filter(({ file }) => isKept(file))
    .map(planned =>
      planned.owner === null || isKept(planned.owner.file) ? planned : { ...planned, kind: 'community' as const, owner: null },
    )
  return { ...plan, skills, files }
}

/** What was left out while files were read. */
interface LeftOut {
  /** Files for which the time did not suffice. */
  late: number
  /** Those of them that are skills. */
  lateSkills: number
  /** Files that only links lead to, beyond the text of one index. */
  overBudget: number
}

/** The plan with what it lacks: it is truncated, and diagnostics say so. */
export function tellLeftOut(plan: Plan, { late, lateSkills, overBudget }: LeftOut): Plan {
  const inTime = finding('index.limit_time:files', { n: late, skills: lateSkills, limit: INDEX_PROCESSOR_SECONDS })
  const inBudget = finding('index.limit_bytes:linked', { n: overBudget, limit: INDEXED_TEXT_BYTES })
  const diagnostics: DiagnosticRow[] = [
    ...(late > 0 ? [limitDiagnostic(inTime)] : []),
    ...(overBudget > 0 ? [limitDiagnostic(inBudget)] : []),
  ]
  return {
    ...plan,
    truncated: plan.truncated || diagnostics.length > 0,
    diagnostics: [...plan.diagnostics, ...diagnostics],
  }
}
