import type { Warning } from '#core/contract/shared.ts'
import { withMessage } from '#core/finding-messages.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import { finding } from '#words/findings.ts'

/** The warnings of a skill as a mount tells them: none names another skill that lies outside of it. */
export function warningsInMount(mounted: RepoPath, warnings: readonly WarningRow[]): Warning[] {
  return warnings.map(warning => {
    const { code, field, values } = warning
    const isOutside = code === 'name.duplicate' && !isInside(mounted, String(values?.path) as RepoPath)
    return withMessage(isOutside ? { ...finding('name.duplicate:outside'), ...(field !== undefined && { field }) } : warning)
  })
}
