import type { Address } from '#core/address.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import { pageHref } from './links.ts'
import { type LookRow, lookRows, type Point } from './look-at.ts'
import type { Versions } from './versions.ts'

/** What an overview says of the changes since the last version. */
export interface ChangedSince {
  /** `v1`, `172c5dd` */
  version: string
  /** The page with all changes. */
  href: string
  /** The gravest. None where there is nothing to look at, or a side is not indexed. */
  lines: SinceLine[]
}

export interface SinceLine {
  row: LookRow
  point: Point
  /** The page of what changed there. */
  href: string
}

const LINES = 2

/** The gravest changes of the mounted folder; `null` where there is no older version. Starts no job. */
export async function loadChangedSince(versions: Versions, address: Address): Promise<ChangedSince | null> {
  const base = await versions.indexedBase(address).catch(() => null)
  if (base === null) return null
  const changes = base.isIndexed ? await versions.changesIfIndexed(address, base.commit).catch(() => null) : null
  const rows = lookRows(changes?.items ?? [])
  const { ref } = base
  return {
    version: isCommitSha(ref) ? ref.slice(0, 7) : ref.replace(/^refs\/tags\//, ''),
    href: pageHref(address, 'changes', { from: ref }),
    lines: gravest(rows).map(line => ({
      ...line,
      href: changesHref(address, ref, line.row) ?? pageHref(address, 'changes', { from: ref }),
    })),
  }
}

/** One of each row, and more of the only one. */
function gravest(rows: readonly LookRow[]): Pick<SinceLine, 'row' | 'point'>[] {
  const pairs = rows.map(row => row.points.map(point => ({ row, point })))
  const firsts = pairs.flatMap(([first]) => first ?? [])
  return (firsts.length >= LINES ? firsts : [...firsts, ...pairs.flatMap(([, ...others]) => others)]).slice(0, LINES)
}

/** The page of what changed in the item or file of a row; `null` for a file outside of the mounted folder. */
export function changesHref(address: Address, from: string | undefined, { item, path }: LookRow): string | null {
  const isInMount = address.path === '' || path.startsWith(`${address.path}/`)
  if (item === null && !isInMount) return null
  return pageHref(address, 'changes', { path, was: item?.kind === 'document' ? item.movedFrom : undefined, from })
}
