import { t } from '#words/t.ts'
import type { ChangedPart } from './change-groups.ts'
import { printable } from './hidden-text.ts'

/* How the reports of commands say what changed. */

/** `includes by old.md (removed), new.md (added)`: a file without a word changed. @param all name every file */
export function partsLine({ parts, causes }: ChangedPart, all = false): string {
  const names = parts.join(', ')
  if (causes.length === 0) return names
  const paths = causes.map(({ path, change }) =>
    change === 'changed' ? printable(path) : `${printable(path)} (${t(`diff.changes.${change}`)})`,
  )
  return `${names} ${t('diff.by', { paths: listOf(paths, all) })}`
}

/** Names of a list that are told; the rest is counted. */
const NAMED = 3

/** `a, b, c and 5 more` @param all name every one */
export function listOf(names: readonly string[], all = false): string {
  if (all) return names.join(', ')
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? t('check.andMore', { names: shown, n: names.length - NAMED }) : shown
}
