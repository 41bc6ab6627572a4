import type { DeliveredItems, DeliveredReads } from '#core/changes/items.ts'
import { itemsOfRows } from '#core/changes/items.ts'
import { deliveredTexts, type SkillTexts } from '#core/changes/skill-texts.ts'
import type { Counts } from '#core/contract/shared.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { pathOfKey } from '#core/snapshot/delivered.ts'
import type { Location } from '#core/snapshot/format.ts'
import { decodeText } from '#core/text.ts'
import type { KeptSnapshot } from './kept-snapshot.ts'

/** One side of a comparison, with everything at hand. */
export interface KeptSide {
  items: DeliveredItems
  reads: DeliveredReads
  /** Skills and documents whose texts are not compared, since they are described only. */
  notCompared: Counts
  /** What a listed skill delivers; `null` where the folder lists none. */
  skillTexts(path: string): Promise<SkillTexts | null>
  /** The path of a file's own bytes, if a symlink gives it this one. */
  placeOf(path: string): string
}

/** What a snapshot in memory delivers below a folder: a mount of the folder. */
export function keptSideOf(snapshot: KeptSnapshot, folder: RepoPath): KeptSide {
  const rows = snapshot.rows('delivered')
  const isMountInsideSkill = snapshot.rows('folders').get(folder)?.pages !== undefined
  const items = itemsOfRows(
    [...rows].filter(([key]) => {
      const isShown = key.startsWith('item\0') || (isMountInsideSkill && key.startsWith('page\0'))
      return isShown && isInside(folder, pathOfKey(key) as RepoPath)
    }),
  )
  const read = async (location: Location) => snapshot.record(location)
  const fileText = (path: string): string => {
    const record = snapshot.rows('files').get(path)?.record
    return (record && decodeText(snapshot.record(record))) ?? ''
  }
  return {
    items,
    notCompared: snapshot.rows('folders').get(folder)?.described ?? { skills: 0, documents: 0 },
    reads: {
      async textOf(kind, path) {
        return kind === 'document' ? fileText(path) : (snapshot.rows('contexts').get(path)?.full?.body ?? '')
      },
      async factsOf(keys) {
        const found = keys.map(key => [key, rows.get(key)] as const)
        return new Map(found.flatMap(([key, row]) => (row?.kind === 'text' ? [[key, row.facts] as const] : [])))
      },
      async knownHosts(hosts) {
        const known = snapshot.rows('hosts')
        return new Set(hosts.filter(host => known.has(host)))
      },
    },
    async skillTexts(path) {
      const context = items.skills.has(path) ? snapshot.rows('contexts').get(path) : undefined
      return context === undefined ? null : await deliveredTexts(path, context, read)
    },
    placeOf: path => snapshot.rows('files').get(path)?.target ?? path,
  }
}
