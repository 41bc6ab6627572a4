import { COMMANDS } from '#words/en/commands.ts'
import { formatNumber, formatTenths, t } from '#words/t.ts'
import type { Reason } from './sweep-plan.ts'

/** Counts of what a sweep removed, or would remove, and what it kept. */
export interface Tally {
  repositories: number
  snapshots: Record<Reason, number>
  keptSnapshots: number
  packs: number
  /** Contents and media of the operator that an earlier publication named. */
  published: number
  /** Objects that processes wrote to ask whether the store takes writes. */
  probes: number
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
    snapshots: { expired: 0, outdated: 0, hidden: 0, damaged: 0, incomplete: 0 },
    keptSnapshots: 0,
    packs: 0,
    published: 0,
    probes: 0,
    entries: 0,
    bytes: 0,
    waitingPacks: 0,
    waitingBytes: 0,
    waitingPublished: 0,
    unreadableHeaders: 0,
    failures: 0,
  }
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
): string[] {
  const { packs, entries, bytes, keptSnapshots, repositories, waitingPacks, waitingBytes, unreadableHeaders } = tally
  const { leftovers, published, probes, waitingPublished } = tally
  const sized = (what: string, sizeBytes: number) => t('sweep.sized', { what, bytes: formatBytes(sizeBytes) })
  const waiting = sized(t('counts.packWaiting', { n: waitingPacks }), waitingBytes)
  const kept = {
    snapshots: t('counts.snapshot', { n: keptSnapshots }),
    repositories: t('counts.repository', { n: repositories }),
  }
  const lines = [
    remove ? t('sweep.removed') : t('sweep.unused'),
    `  ${removedSnapshots(tally, days)}`,
    `  ${t('counts.packUnused', { n: packs })}`,
    ...(published === 0 ? [] : [`  ${t('counts.fileOfEarlier', { n: published })}`]),
    ...(probes === 0 ? [] : [`  ${t('counts.testObject', { n: probes })}`]),
    `  ${t('counts.entryOfState', { n: entries })}`,
    `  ${t('sweep.objects', { bytes: formatBytes(bytes) })}`,
    ...(leftovers.files === 0 ? [] : [`  ${sized(t('counts.fileOfInterrupted', { n: leftovers.files }), leftovers.bytes)}`]),
    t('sweep.kept'),
    `  ${t('sweep.keptSnapshots', kept)}`,
    `  ${t('sweep.nextSweep', { what: waiting })}`,
  ]
  if (waitingPublished > 0) lines.push(`  ${t('sweep.nextSweep', { what: t('counts.fileOfEarlier', { n: waitingPublished }) })}`)
  if (unreadableHeaders > 0)
    lines.push(`  ${t('sweep.unreadable', { repositories: t('counts.repository', { n: unreadableHeaders }) })}`)
  return lines
}

/** How many snapshots are unused, and why. */
function removedSnapshots({ snapshots }: Tally, days: number): string {
  const found = (Object.keys(COMMANDS.sweep.reasons) as Reason[]).filter(reason => snapshots[reason] > 0)
  const dayCount = t('counts.day', { n: days })
  const reasons = found
    .map(reason => t(`sweep.reasons.${reason}`, { n: formatNumber(snapshots[reason]), days: dayCount }))
    .join(', ')
  const total = Object.values(snapshots).reduce((sum, one) => sum + one, 0)
  const counted = t('counts.snapshot', { n: total })
  return reasons === '' ? counted : t('sweep.because', { snapshots: counted, reasons })
}

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : formatTenths(bytes / 1000 ** power)} ${units[power]}`
}
