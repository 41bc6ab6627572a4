import type { Warning } from '#core/contract/shared.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { say, valuesOf } from '#words/findings.ts'

/** The warnings of a skill as a mount tells them: none names another skill that lies outside of it. */
export function warningsInMount(mounted: RepoPath, warnings: Warning[]): Warning[] {
  if (mounted === '') return warnings
  return warnings.map(warning => {
    const path = warning.code === 'name.duplicate' ? valuesOf(warning.code, warning.message)?.path : undefined
    if (path === undefined || isInside(mounted, path as RepoPath)) return warning
    return { ...warning, message: say('name.duplicate:outside') }
  })
}
