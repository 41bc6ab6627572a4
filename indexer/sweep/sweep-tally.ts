import type { Reason } from './sweep-plan.ts'

/** Counts of what a sweep removed, or would remove, and what it kept. */
export interface Tally {
  repositories: number
  snapshots: Record<Reason, number>
  keptSnapshots: number
  packs: number
  /** Contents and media of the operator that an earlier publication named. */
  published: number
  /** Entries of the state store. */
  entries: number
  /** Bytes of removed objects; entries are not included. */
  bytes: number
  /** Unused packs that a later sweep removes, and their bytes where known. */
  waitingPacks: number
  waitingBytes: number
  /** Of the operator, likewise. */
  waitingPublished: number
  /** Repositories that keep all packs, because a header cannot be read. */
  unreadableHeaders: number
  /** Repositories that failed. */
  failures: number
}

export function emptyTally(): Tally {
  return {
    repositories: 0,
    snapshots: { unread: 0, outdated: 0, hidden: 0, damaged: 0, incomplete: 0 },
    keptSnapshots: 0,
    packs: 0,
    published: 0,
    entries: 0,
    bytes: 0,
    waitingPacks: 0,
    waitingBytes: 0,
    waitingPublished: 0,
    unreadableHeaders: 0,
    failures: 0,
  }
}

const REASONS: Record<Reason, (days: number) => string> = {
  unread: days => `not opened for ${days} days`,
  outdated: () => 'written for an earlier version',
  hidden: () => 'of repositories that their host no longer shows',
  damaged: () => 'damaged',
  incomplete: () => 'with missing packs',
}

/** Files of interrupted writes. */
interface Leftovers {
  files: number
  bytes: number
}

/** The output of the command: a line for each class of data. */
export function formatTally(
  tally: Tally & { leftovers: Leftovers },
  { days, remove }: { days: number; remove: boolean },
): string {
  const { snapshots, packs, entries, bytes, keptSnapshots, repositories, waitingPacks, waitingBytes, unreadableHeaders } = tally
  const { leftovers, published, waitingPublished } = tally
  const reasons = (Object.keys(REASONS) as Reason[]).filter(reason => snapshots[reason] > 0)
  const why = reasons.map(reason => `${count(snapshots[reason])} ${REASONS[reason](days)}`).join(', ')
  const total = Object.values(snapshots).reduce((sum, number) => sum + number, 0)
  const lines = [
    remove ? 'removed:' : 'unused, removed with --remove:',
    `  ${count(total)} snapshots${why && `: ${why}`}`,
    `  ${count(packs)} packs that no snapshot uses`,
    ...(published === 0 ? [] : [`  ${count(published)} files of earlier publications`]),
    `  ${count(entries)} entries of the state store`,
    `  ${formatBytes(bytes)} of objects`,
    ...(leftovers.files === 0
      ? []
      : [`  ${count(leftovers.files)} files of interrupted writes, ${formatBytes(leftovers.bytes)}`]),
    'kept:',
    `  ${count(keptSnapshots)} snapshots in ${count(repositories)} repositories`,
    `  ${count(waitingPacks)} unused packs, ${formatBytes(waitingBytes)}: removed by the first sweep a day after they were noted`,
  ]
  if (waitingPublished > 0)
    lines.push(
      `  ${count(waitingPublished)} files of earlier publications: removed by the first sweep a day after they were noted`,
    )
  if (unreadableHeaders > 0) lines.push(`  all packs of ${count(unreadableHeaders)} repositories: a header cannot be read`)
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
