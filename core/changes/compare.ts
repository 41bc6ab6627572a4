import { createYielder, type Yielder } from '../concurrency/yielding.ts'
import type {
  ChangeCount,
  ChangedDocument,
  ChangedManifest,
  ChangedSkill,
  ChangeItem,
  DocumentSide,
  FileSide,
  ItemChange,
  SkillSide,
} from '../contract/changes.ts'
import { COMPARED_SLICE_MS } from '../limits.ts'
import type { DeliveredDocument, DeliveredItem, DeliveredManifest, DeliveredSkill, ItemKind } from '../snapshot/delivered.ts'
import { compareBytes } from '../text.ts'
import type { Movable } from './alike.ts'
import { type FactSources, factsOfDocument, factsOfSkill, hostsOfSide, textKeysOf } from './facts.ts'
import type { Both, Compared, DeliveredItems, DeliveredReads, Sided } from './items.ts'
import { findMoves, type Move } from './moves.ts'
import { causesOfSkill, partsOfDocument, partsOfManifest, partsOfSkill } from './parts.ts'

/** One item that differs, without what differs in it. */
export interface Change {
  kind: ItemKind
  /** On the new side; of a removed item, on the old one. */
  path: string
  change: ItemChange
  /** The old path of an item that moved. */
  movedFrom?: string
}

/** What differs between two sides. */
export interface Outline {
  /** By path, then kind. */
  changes: Change[]
  counts: { skills: ChangeCount; documents: ChangeCount; manifests: ChangeCount }
  /** How many skills a manifest is a cause of, by its path. */
  skillsByManifest: Readonly<Record<string, number>>
}

/**
 * Finds what differs between two sides.
 *
 * @param before, after the items of both sides; those that are the same may be left out of both
 */
export async function outlineChanges(
  before: DeliveredItems,
  after: DeliveredItems,
  reads: { before: Pick<DeliveredReads, 'textOf'>; after: Pick<DeliveredReads, 'textOf'> },
): Promise<Outline> {
  const textsOf = (kind: 'skill' | 'document') => ({
    before: (path: string) => reads.before.textOf(kind, path),
    after: (path: string) => reads.after.textOf(kind, path),
  })
  const both = <Items extends keyof DeliveredItems>(items: Items) => ({ before: before[items], after: after[items] })
  const skillMoves = await findMoves(
    onlyIn(before.skills, after.skills).flatMap(movableSkill),
    onlyIn(after.skills, before.skills).flatMap(movableSkill),
    textsOf('skill'),
  )
  const documentMoves = await findMoves(
    onlyIn(before.documents, after.documents).flatMap(movableDocument),
    onlyIn(after.documents, before.documents).flatMap(movableDocument),
    textsOf('document'),
  )
  const yieldIfDue = createYielder(undefined, COMPARED_SLICE_MS)
  const skills = await changesOf(
    'skill',
    { ...both('skills'), moves: skillMoves, yieldIfDue },
    pair => partsOfSkill(pair).length > 0,
  )
  const changes = [
    ...skills,
    ...(await changesOf(
      'document',
      { ...both('documents'), moves: documentMoves, yieldIfDue },
      pair => partsOfDocument(pair).length > 0,
    )),
    ...(await changesOf('manifest', { ...both('manifests'), moves: [], yieldIfDue }, pair => partsOfManifest(pair).length > 0)),
  ]
  changes.sort((left, right) => compareBytes(left.path, right.path) || compareBytes(left.kind, right.kind))
  const count = (kind: ItemKind) => countChanges(changes.filter(change => change.kind === kind))
  return {
    changes,
    counts: { skills: count('skill'), documents: count('document'), manifests: count('manifest') },
    skillsByManifest: await countSkills(skills, before, after, yieldIfDue),
  }
}

/**
 * Describes one change.
 *
 * @param sources as `readFactSources` reads them
 */
export function describeChange(
  change: Change,
  before: DeliveredItems,
  after: DeliveredItems,
  { skillsByManifest }: Pick<Outline, 'skillsByManifest'>,
  sources: FactSources,
): ChangeItem {
  switch (change.kind) {
    case 'skill':
      return describeSkill(change, sidesOf(change, before.skills, after.skills), sources)
    case 'document':
      return describeDocument(change, sidesOf(change, before.documents, after.documents), sources)
    case 'manifest':
      return describeManifest(change, sidesOf(change, before.manifests, after.manifests), skillsByManifest[change.path] ?? 0)
  }
}

type ReadItems = { items: DeliveredItems; reads: Pick<DeliveredReads, 'factsOf' | 'knownHosts'> }

/** Reads what the facts of some changes are taken from. */
export async function readFactSources(
  changes: readonly (Omit<Change, 'change'> & { change: ItemChange | 'unchanged' })[],
  before: ReadItems,
  after: ReadItems,
): Promise<FactSources> {
  const skills = changes
    .filter(({ kind }) => kind === 'skill')
    .map(change => sidesOf(change, before.items.skills, after.items.skills))
  const keysOf = (side: 'before' | 'after') => [...new Set(skills.flatMap(pair => textKeysOf(pair[side])))]
  const [old, new_] = await Promise.all([before.reads.factsOf(keysOf('before')), after.reads.factsOf(keysOf('after'))])
  const documents = changes
    .filter(({ kind }) => kind === 'document')
    .map(change => sidesOf(change, before.items.documents, after.items.documents))
  const sides = [...skills, ...documents].flatMap(({ after: side }) => side ?? [])
  const hosts = new Set(sides.flatMap(side => hostsOfSide(side, new_)))
  return { before: old, after: new_, knownHosts: await before.reads.knownHosts([...hosts]) }
}

/** Compares two sides that are at hand as a whole. */
export async function compareSides(
  before: { items: DeliveredItems; reads: DeliveredReads },
  after: { items: DeliveredItems; reads: DeliveredReads },
): Promise<{ items: ChangeItem[]; counts: Outline['counts'] }> {
  const outline = await outlineChanges(before.items, after.items, { before: before.reads, after: after.reads })
  const sources = await readFactSources(outline.changes, before, after)
  const items = outline.changes.map(change => describeChange(change, before.items, after.items, outline, sources))
  return { items, counts: outline.counts }
}

/** An item of a skill that both sides list and that may be the same on both. */
export function describeSkill<Kind extends ItemChange | 'unchanged'>(
  { path, change, movedFrom }: Omit<Change, 'change' | 'kind'> & { change: Kind },
  pair: Compared<DeliveredSkill>,
  sources: FactSources,
): Omit<ChangedSkill, 'change'> & { change: Kind } {
  const { directory, name } = theNewer(pair).row
  const both = bothOf(pair)
  const parts = both === null ? [] : partsOfSkill(both)
  return {
    kind: 'skill',
    path,
    directory,
    name,
    change,
    ...(movedFrom === undefined ? {} : { movedFrom }),
    parts,
    causes: both === null ? [] : causesOfSkill(both, parts),
    before: pair.before && skillSide(pair.before.row),
    after: pair.after && skillSide(pair.after.row),
    facts: factsOfSkill(pair, sources),
  }
}

function describeDocument(
  { path, change, movedFrom }: Change,
  pair: Compared<DeliveredDocument>,
  sources: FactSources,
): ChangedDocument {
  const both = bothOf(pair)
  return {
    kind: 'document',
    path,
    title: theNewer(pair).row.title,
    change,
    ...(movedFrom === undefined ? {} : { movedFrom }),
    parts: both === null ? [] : partsOfDocument(both),
    before: pair.before && documentSide(pair.before.row),
    after: pair.after && documentSide(pair.after.row),
    facts: factsOfDocument(pair, sources),
  }
}

function describeManifest({ path, change }: Change, pair: Compared<DeliveredManifest>, skills: number): ChangedManifest {
  const both = bothOf(pair)
  return {
    kind: 'manifest',
    path,
    change: change as ChangedManifest['change'],
    parts: both === null ? [] : partsOfManifest(both),
    skills,
    before: pair.before && manifestSide(pair.before.row),
    after: pair.after && manifestSide(pair.after.row),
  }
}

function skillSide({ license, full }: DeliveredSkill): SkillSide {
  const { sha256 = null, bytes = null, tokens = null, complete = true } = full ?? {}
  return { sha256, bytes, tokens, license, full: full !== undefined, complete }
}

function documentSide({ license, full, file }: DeliveredDocument): DocumentSide {
  const { sha256 = null, bytes = null, tokens = null } = file ?? {}
  return { sha256, bytes, tokens, license, full }
}

/** A manifest counts by what it declares, also where its file is not served. */
function manifestSide({ file }: DeliveredManifest): FileSide {
  return file ?? { sha256: null, bytes: null, tokens: null }
}

/** Both sides of a change. */
export function sidesOf<Row>(
  { path, change, movedFrom }: Pick<Change, 'path' | 'movedFrom'> & { change: ItemChange | 'unchanged' },
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
): Compared<Row> {
  const oldPath = movedFrom ?? path
  return {
    before: change === 'added' ? null : sided(oldPath, before.get(oldPath)),
    after: change === 'removed' ? null : sided(path, after.get(path)),
  }
}

function sided<Row>(path: string, row: Row | undefined): Sided<Row> {
  if (row === undefined) throw new Error(`a side of the comparison lacks the item ${path}`)
  return { path, row }
}

function bothOf<Row>({ before, after }: Compared<Row>): Both<Row> | null {
  return before === null || after === null ? null : { before, after }
}

function theNewer<Row>({ before, after }: Compared<Row>): Sided<Row> {
  const newer = after ?? before
  if (newer === null) throw new Error('an item is on neither side')
  return newer
}

function onlyIn<Row>(one: ReadonlyMap<string, Row>, other: ReadonlyMap<string, Row>): Sided<Row>[] {
  return [...one].filter(([path]) => !other.has(path)).map(([path, row]) => ({ path, row }))
}

function movableSkill({ path, row: { name, full } }: Sided<DeliveredSkill>): Movable[] {
  const [, sha256 = '', bytes = 0] = full?.body ?? []
  return bytes === 0 ? [] : [{ path, name, sha256, bytes }]
}

function movableDocument({ path, row: { title, file } }: Sided<DeliveredDocument>): Movable[] {
  return file === undefined || file.bytes === 0 ? [] : [{ path, name: title, sha256: file.sha256, bytes: file.bytes }]
}

interface ComparedItems<Row> {
  before: ReadonlyMap<string, Row>
  after: ReadonlyMap<string, Row>
  moves: readonly Move[]
  yieldIfDue: Yielder
}

async function changesOf<Row extends DeliveredItem>(
  kind: ItemKind,
  { before, after, moves, yieldIfDue }: ComparedItems<Row>,
  isChanged: (pair: Both<Row>) => boolean,
): Promise<Change[]> {
  const movedFrom = new Map(moves.map(({ from, to }) => [to, from]))
  const left = new Set(moves.map(({ from }) => from))
  const removed = [...before.keys()].filter(path => !after.has(path) && !left.has(path))
  const changes = removed.map((path): Change => ({ kind, path, change: 'removed' }))
  for (const [path, row] of after) {
    await yieldIfDue()
    const old = before.get(path)
    const from = movedFrom.get(path)
    if (old !== undefined) {
      if (isChanged({ before: { path, row: old }, after: { path, row } })) changes.push({ kind, path, change: 'changed' })
    } else changes.push(from === undefined ? { kind, path, change: 'added' } : { kind, path, change: 'moved', movedFrom: from })
  }
  return changes
}

function countChanges(changes: readonly Change[]): ChangeCount {
  const counts = { added: 0, removed: 0, changed: 0, moved: 0 }
  for (const { change } of changes) counts[change]++
  return counts
}

async function countSkills(
  skills: readonly Change[],
  before: DeliveredItems,
  after: DeliveredItems,
  yieldIfDue: Yielder,
): Promise<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const change of skills) {
    await yieldIfDue()
    const both = bothOf(sidesOf(change, before.skills, after.skills))
    if (both === null) continue
    const causes = causesOfSkill(both, partsOfSkill(both))
    for (const path of new Set(causes.map(cause => cause.path))) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  // Of manifests that change alone: a file of a skill may have any name.
  const manifests = [...before.manifests.keys(), ...after.manifests.keys()]
  return Object.fromEntries(manifests.flatMap(path => (counts.has(path) ? [[path, counts.get(path) ?? 0]] : [])))
}
