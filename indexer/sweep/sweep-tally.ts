import type { Reason } from './sweep-plan.ts'

/** What a sweep removed, or would remove, and what it left. */
export interface Tally {
  repositories: number
  snapshots: Record<Reason, number>
  keptSnapshots: number
  packs: number
  documents: number
  /** Of the objects that were removed; documents are not counted. */
  bytes: number
  /** Unused packs that a later sweep removes, and their bytes as far as they are known. */
  waitingPacks: number
  waitingBytes: number
  /** Repositories whose packs all stay, because a header cannot be read. */
  opaque: number
  /** Repositories that could not be swept. */
  failures: number
}

export function emptyTally(): Tally {
  return {
    repositories: 0,
    snapshots: { unread: 0, outdated: 0, hidden: 0, damaged: 0, incomplete: 0 },
    keptSnapshots: 0,
    packs: 0,
    documents: 0,
    bytes: 0,
    waitingPacks: 0,
    waitingBytes: 0,
    opaque: 0,
    failures: 0,
  }
}

const REASONS: Record<Reason, (days: number) => string> = {
  unread: days => `not opened for ${days} days`,
  outdated: () => 'of an earlier version',
  hidden: () => 'of repositories that their host does not show any more',
  damaged: () => 'damaged',
  incomplete: () => 'with packs that are gone',
}

/** Files of writes that were broken off, which are nothing of the store yet. */
interface Leftovers {
  files: number
  bytes: number
}

/** What the command prints: a line a class. */
export function formatTally(
  tally: Tally & { leftovers: Leftovers },
  { days, remove }: { days: number; remove: boolean },
): string {
  const { snapshots, packs, documents, bytes, keptSnapshots, repositories, waitingPacks, waitingBytes, opaque } = tally
  const { leftovers } = tally
  const reasons = (Object.keys(REASONS) as Reason[]).filter(reason => snapshots[reason] > 0)
  const why = reasons.map(reason => `${count(snapshots[reason])} ${REASONS[reason](days)}`).join(', ')
  const total = Object.values(snapshots).reduce((sum, number) => sum + number, 0)
  const lines = [
    remove ? 'removed:' : 'would be removed, with --remove:',
    `  ${count(total)} snapshots${why && `: ${why}`}`,
    `  ${count(packs)} packs that no snapshot refers to`,
    `  ${count(documents)} documents`,
    `  ${formatBytes(bytes)} of objects`,
    ...(leftovers.files === 0
      ? []
      : [`  ${count(leftovers.files)} files of writes that were broken off, ${formatBytes(leftovers.bytes)}`]),
    'kept:',
    `  ${count(keptSnapshots)} snapshots in ${count(repositories)} repositories`,
    `  ${count(waitingPacks)} unused packs, ${formatBytes(waitingBytes)}: removed by a sweep a day after one has noted them`,
  ]
  if (opaque > 0) lines.push(`  all packs of ${count(opaque)} repositories with a snapshot whose header cannot be read`)
  return `${lines.join('\n')}\n`
}

function count(number: number): string {
  return number.toLocaleString('en')
}

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}
