import type { Cause, ChangedSkill, ChangeItem, DocumentPart, ManifestPart, SkillPart } from './contract/changes.ts'

/* How reports and pages tell what changed, so that a line in a manifest above a hundred skills is not told a hundred times. */

/** What is told: an item of a comparison, or a skill that was compared elsewhere. Equal facts are told together. */
type ToldItem =
  | ChangeItem
  | (Pick<ChangedSkill, 'kind' | 'path' | 'parts' | 'causes'> & { change: string; facts: { serving?: string } })

/** The order in which reports and pages tell items: skills, which agents act by, then documents. What a manifest changes is told at its skills. */
export const TOLD_KINDS = ['skill', 'document', 'manifest'] as const satisfies ChangeItem['kind'][]

/** The items by kind, as they are told; of one kind in their order. */
export function byKind<Item extends Pick<ChangeItem, 'kind'>>(items: readonly Item[]): Item[] {
  return TOLD_KINDS.flatMap(kind => items.filter(item => item.kind === kind))
}

/** Parts of an item that changed because of the same files. */
export interface ChangedPart {
  parts: (SkillPart | DocumentPart | ManifestPart)[]
  /** Without the file of the item itself. */
  causes: Pick<Cause, 'path' | 'change'>[]
}

/**
 * The parts of an item that changed, in order, neighbors with the same causes together. If the license opened or closed the item, the texts and
 * files that it delivers now, or no longer delivers, are left out: they follow from it.
 */
export function changedParts(item: ToldItem): ChangedPart[] {
  const follows = item.kind !== 'manifest' && item.facts.serving !== undefined
  const told: ChangedPart[] = []
  for (const part of item.parts) {
    if (follows && DELIVERED.has(part)) continue
    const causes = causesOf(item, part)
    const last = told.at(-1)
    if (last && isSame(last.causes, causes)) last.parts.push(part)
    else told.push({ parts: [part], causes })
  }
  return told
}

const DELIVERED = new Set<string>(['rules', 'body', 'includes', 'files'])

function causesOf(item: ToldItem, part: ChangedPart['parts'][number]): ChangedPart['causes'] {
  if (item.kind !== 'skill') return []
  const causes = item.causes.filter(cause => cause.part === part && cause.path !== item.path)
  return causes.map(({ path, change }) => ({ path, change }))
}

/** Fewer items that differ alike are told one by one. */
const GROUP_FROM = 4

/** The items in their order, except that those that differ alike, because of files elsewhere, stand together in the place of the first. */
export function groupAlike<Item extends ToldItem>(items: readonly Item[]): Item[][] {
  const alike = [...Map.groupBy(items, item => likenessOf(item) ?? item).values()].filter(({ length }) => length >= GROUP_FROM)
  const groups = new Map(alike.flatMap(group => group.map(item => [item, group])))
  return items.flatMap(item => {
    const group = groups.get(item)
    if (group === undefined) return [[item]]
    return item === group[0] ? [group] : []
  })
}

/** Parts that change although the item's own files stay the same. */
const ELSEWHERE = new Set<string>(['rules', 'includes', 'license', 'serving'])

/** Equal for items that differ alike; `null` for an item that differs in its own way. */
function likenessOf(item: ToldItem): string | null {
  if (item.kind === 'manifest' || item.change !== 'changed') return null
  const parts = changedParts(item)
  if (!parts.every(one => one.parts.every(part => ELSEWHERE.has(part)))) return null
  if (item.kind === 'skill' && item.causes.some(({ part, path }) => part === 'includes' && path === item.path)) return null
  // A document names no causes.
  const licenses = item.kind === 'document' ? [item.before?.license, item.after?.license] : []
  return JSON.stringify([item.kind, parts, item.facts, licenses])
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
