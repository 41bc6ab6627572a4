import type { License } from '#core/contract/shared.ts'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import { finding } from '#words/findings.ts'
import { idsOfExpression } from './kind.ts'
import type { LicenseIssue, LicenseSources } from './sources.ts'

/** A declaration of a license in a folder. */
export interface Declaration {
  /** `words`: a front matter or a manifest; `file`: a license file; `metadata`: a package or plugin file. */
  origin: 'words' | 'file' | 'metadata'
  kind: Exclude<License['kind'], 'none'>
  name: string | null
  source: RepoPath
  issues: LicenseIssue[]
}

/**
 * Combines the declarations of one folder, given in order of precedence; `null` when there are none.
 * A restriction wins. Otherwise the first declaration counts: an open id in front matter or a manifest wins over an unrecognized text. A
 * different license beside it is a warning.
 */
export function combineDeclarations(declarations: readonly Declaration[], sources: Withholding): Declaration | null {
  const [first] = declarations
  if (first === undefined) return null
  const chosen = declarations.find(({ kind }) => kind === 'restricted') ?? first
  const others = declarations.filter(other => other !== chosen && other.kind !== 'unknown' && !agree(chosen, other))
  return chosen.kind === 'unknown' || others.length === 0 ? chosen : withConflict(chosen, others, sources)
}

type Withholding = Pick<LicenseSources, 'isWithheld'>

/** What answers tell of a declaration: neither the path of a withheld license file, nor words that name it. */
export function namedPart({ name, source }: Declaration, { isWithheld }: Withholding): Pick<License, 'name' | 'source'> {
  if (!isWithheld(source)) return { name, source }
  return { name: name?.includes(baseNameOf(source)) ? null : name, source: null }
}

function withConflict(chosen: Declaration, others: readonly Declaration[], sources: Withholding): Declaration {
  const told = (declaration: Declaration) => namedPart(declaration, sources)
  const list = others.map(told).map(({ name, source }) => `${name ?? 'a restricted license'} in ${source ?? 'a withheld file'}`)
  const issue: LicenseIssue = {
    ...finding('license.conflict', { name: told(chosen).name ?? 'text', others: list.join(', ') }),
    ...(chosen.origin === 'words' ? { field: 'license' as const } : {}),
    path: chosen.source,
  }
  return { ...chosen, issues: [...chosen.issues, issue] }
}

/** Whether one license is a part of the other expression. "only" and "or later" agree. */
function agree(left: Declaration, right: Declaration): boolean {
  if (left.kind !== right.kind) return false
  const [leftIds, rightIds] = [familiesOf(left), familiesOf(right)]
  if (leftIds.size === 0 || rightIds.size === 0) return left.kind === 'restricted'
  return isSubset(leftIds, rightIds) || isSubset(rightIds, leftIds)
}

function familiesOf({ name }: Declaration): Set<string> {
  return new Set(idsOfExpression(name ?? '').map(id => id.replace(/-(?:only|or-later)$/, '')))
}

function isSubset(small: ReadonlySet<string>, large: ReadonlySet<string>): boolean {
  return [...small].every(id => large.has(id))
}
