import { createHash } from 'node:crypto'
import { factsOfDocument, factsOfSkill, textsOf } from './changes-oracle-facts.ts'
import {
  type Document,
  inBytes,
  inside,
  type ManifestOfSide,
  type OracleSide,
  readSide,
  type Skill,
  sha256,
  type Text,
} from './changes-oracle-sides.ts'
import { hostsIn } from './changes-oracle-texts.ts'

/*
 * A second, straightforward reading of what `changes` has to answer: from the trees of two commits, without a line of the indexer, the API or of
 * core. What licenses say is not read again; whoever asks gives it. Tokens are left out: other tests hold them to what `skills` says.
 */

// biome-ignore lint/suspicious/noExplicitAny: an item of three kinds, compared as a whole
type Item = Record<string, any>

/** The items of the comparison below a folder, in order. */
export function expectedItems(before: OracleSide, after: OracleSide, folder: string): Item[] {
  const [old, new_] = [readSide(before, folder), readSide(after, folder)]
  const known = hostsOf(readSide(before, ''))
  const skills = pairUp(old.skills, new_.skills, one => (one.full ? one.body.text : null))
  const documents = pairUp(old.documents, new_.documents, one => one.text)
  const items = [
    ...skills.flatMap(pair => skillItem(pair, known)),
    ...documents.flatMap(pair => documentItem(pair, known)),
    ...pairUp(old.manifests, new_.manifests, () => null).flatMap(pair => manifestItem(pair)),
  ]
  for (const item of items) {
    if (item.kind !== 'manifest') continue
    item.skills = items.filter(
      ({ kind, causes }) => kind === 'skill' && causes.some((one: Item) => one.path === item.path),
    ).length
  }
  return items.sort((left, right) => inBytes(left.path, right.path) || inBytes(left.kind, right.kind))
}

/** Every host that a delivered text links to. */
function hostsOf({ skills, documents }: ReturnType<typeof readSide>): ReadonlySet<string> {
  const texts = [...skills.flatMap(textsOf).map(({ text }) => text), ...documents.flatMap(({ text }) => text ?? [])]
  return new Set(texts.flatMap(hostsIn))
}

type Pair<Row> = [before: Row | null, after: Row | null]

/** Rows of one path belong together; of the others, those that moved. */
function pairUp<Row extends { path: string; name: string }>(
  before: readonly Row[],
  after: readonly Row[],
  textOf: (row: Row) => string | null,
): Pair<Row>[] {
  const byPath = (rows: readonly Row[]) => new Map(rows.map(row => [row.path, row]))
  const [oldRows, newRows] = [byPath(before), byPath(after)]
  const pairs: Pair<Row>[] = before.flatMap(old => {
    const one = newRows.get(old.path)
    return one === undefined ? [] : [[old, one]]
  })
  let removed = before.filter(({ path }) => !newRows.has(path))
  let added = after.filter(({ path }) => !oldRows.has(path))
  const alike = removed
    .flatMap(old =>
      added.map(one => ({ old, one, isNamesake: old.name === one.name, likeness: likeness(textOf(old), textOf(one)) })),
    )
    .filter(pair => pair.likeness >= (pair.isNamesake ? 0.6 : 0.8))
    .sort(
      (left, right) =>
        Number(right.isNamesake) - Number(left.isNamesake) ||
        right.likeness - left.likeness ||
        inBytes(left.old.path, right.old.path) ||
        inBytes(left.one.path, right.one.path),
    )
  for (const { old, one } of alike) {
    if (!removed.includes(old) || !added.includes(one)) continue
    pairs.push([old, one])
    removed = removed.filter(row => row !== old)
    added = added.filter(row => row !== one)
  }
  return [...pairs, ...removed.map((row): Pair<Row> => [row, null]), ...added.map((row): Pair<Row> => [null, row])]
}

function likeness(left: string | null, right: string | null): number {
  if (left === null || right === null || left === '' || right === '') return 0
  const bytes = [Buffer.byteLength(left), Buffer.byteLength(right)]
  // Most pairs are too different in size.
  if (2 * Math.min(...bytes) < 0.6 * Math.max(...bytes)) return 0
  const rest: string[] = right.match(/[^\n]*\n|[^\n]+$/g) ?? []
  let common = 0
  for (const line of left.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const at = rest.indexOf(line)
    if (at < 0) continue
    rest.splice(at, 1)
    common += Buffer.byteLength(line)
  }
  return (2 * common) / (Buffer.byteLength(left) + Buffer.byteLength(right))
}

function changeOf([before, after]: Pair<{ path: string }>, parts: readonly string[]): string | null {
  if (before === null) return 'added'
  if (after === null) return 'removed'
  if (before.path !== after.path) return 'moved'
  return parts.length > 0 ? 'changed' : null
}

function skillItem([before, after]: Pair<Skill>, known: ReadonlySet<string>): Item[] {
  const row = (after ?? before) as Skill
  const parts = before && after ? partsOf(before, after) : []
  const change = changeOf([before, after], parts)
  if (change === null) return []
  const causes = before && after ? causesOf(before, after) : []
  const side = (one: Skill | null) =>
    one && { sha256: digestOf(one), bytes: bytesOf(one), license: one.license, full: one.full, complete: one.complete }
  return [
    {
      kind: 'skill',
      path: row.path,
      directory: row.directory,
      name: row.name,
      change,
      ...(change === 'moved' ? { movedFrom: before?.path } : {}),
      parts,
      causes: PARTS.flatMap(part => {
        const ofPart = parts.includes(part) ? causes.filter(cause => cause.part === part) : []
        return ofPart.sort((left, right) => inBytes(left.path, right.path))
      }),
      before: side(before),
      after: side(after),
      facts: after === null ? {} : factsOfSkill(before, after, known),
    },
  ]
}

const PARTS = ['rules', 'body', 'includes', 'files', 'metadata', 'license', 'serving']

function partsOf(before: Skill, after: Skill): string[] {
  const texts = (skill: Skill, list: readonly Text[]) => list.map(({ path, text }) => [inside(skill, path), text])
  const files = (skill: Skill) => skill.files.map(one => [inside(skill, one.path), one.oid, one.isExecutable]).sort()
  const license = (skill: Skill) => [
    skill.license.kind,
    skill.license.name,
    skill.license.source && inside(skill, skill.license.source),
  ]
  const differs = (of: (skill: Skill) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(after))
  return PARTS.filter(part => {
    if (part === 'rules') return differs(skill => texts(skill, skill.rules))
    if (part === 'includes') return differs(skill => texts(skill, skill.includes))
    if (part === 'body') return differs(skill => [skill.full, skill.body.text])
    if (part === 'files') return differs(files)
    if (part === 'metadata') return differs(skill => skill.fields)
    if (part === 'license') return differs(license)
    return differs(skill => [skill.full, skill.complete])
  })
}

interface ExpectedCause {
  part: string
  path: string
  change: string
}

function causesOf(before: Skill, after: Skill): ExpectedCause[] {
  const causes: ExpectedCause[] = []
  const add = (part: string, path: string, change: string) => {
    if (!causes.some(cause => cause.part === part && cause.path === path)) causes.push({ part, path, change })
  }
  const compareLists = <One extends { path: string }>(
    part: string,
    old: readonly One[],
    new_: readonly One[],
    spell: (one: One) => string,
  ) => {
    for (const one of old)
      if (!new_.some(other => inside(after, other.path) === inside(before, one.path))) add(part, one.path, 'removed')
    for (const one of new_) {
      const earlier = old.find(other => inside(before, other.path) === inside(after, one.path))
      if (earlier === undefined) add(part, one.path, 'added')
      else if (spell(earlier) !== spell(one)) add(part, one.path, 'changed')
    }
  }
  compareLists('rules', before.rules, after.rules, ({ text }) => text)
  if (before.full && after.full) add('body', after.path, 'changed')
  else if (before.full !== after.full) add('body', after.path, after.full ? 'added' : 'removed')
  compareLists('includes', before.includes, after.includes, ({ text }) => text)
  if (before.full && after.full) {
    const lists = (one: Skill, other: Skill) =>
      one.declared.filter(
        ({ path, list }) => list !== '' || other.declared.some(({ path: at }) => inside(other, at) === inside(one, path)),
      )
    compareLists('includes', lists(before, after), lists(after, before), ({ list }) => list)
  }
  compareLists('files', before.files, after.files, ({ oid, isExecutable }) => `${oid} ${isExecutable}`)
  add('metadata', after.path, 'changed')
  for (const part of ['license', ...(before.full === after.full ? [] : ['serving'])]) {
    const [old, new_] = [before.license.source, after.license.source]
    if (old !== null && new_ !== null && inside(before, old) === inside(after, new_)) add(part, new_, 'changed')
    else {
      if (old !== null) add(part, old, 'removed')
      if (new_ !== null) add(part, new_, 'added')
    }
  }
  return causes
}

function documentItem([before, after]: Pair<Document>, known: ReadonlySet<string>): Item[] {
  const row = (after ?? before) as Document
  const of: string[] = ['body', 'metadata', 'license', 'serving']
  const spell: Record<string, (one: Document) => unknown> = {
    body: one => one.text,
    metadata: one => [one.name, one.summary],
    license: one => [one.license.kind, one.license.name, one.license.source],
    serving: one => one.full,
  }
  const isSame = before?.path === after?.path && before?.written === after?.written && before?.full === after?.full
  const compared = isSame ? ['body', 'license', 'serving'] : of
  const parts =
    before && after ? compared.filter(part => JSON.stringify(spell[part]?.(before)) !== JSON.stringify(spell[part]?.(after))) : []
  const change = changeOf([before, after], parts)
  if (change === null) return []
  const side = (one: Document | null) =>
    one && {
      sha256: one.text === null ? null : sha256(one.text),
      bytes: one.text === null ? null : Buffer.byteLength(one.text),
      license: one.license,
      full: one.full,
    }
  return [
    {
      kind: 'document',
      path: row.path,
      title: row.name,
      change,
      ...(change === 'moved' ? { movedFrom: before?.path } : {}),
      parts,
      before: side(before),
      after: side(after),
      facts: after === null ? {} : factsOfDocument(before, after, known),
    },
  ]
}

function manifestItem([before, after]: Pair<ManifestOfSide>): Item[] {
  const of: [string, keyof ManifestOfSide][] = [
    ['rules', 'rules'],
    ['includes', 'include'],
    ['exclusions', 'exclude'],
    ['license', 'license'],
    ['metadata', 'others'],
  ]
  const parts = before && after ? of.filter(([, key]) => before[key] !== after[key]).map(([part]) => part) : []
  const change = changeOf([before, after], parts)
  const { path } = (after ?? before) as ManifestOfSide
  return change === null
    ? []
    : [{ kind: 'manifest', path, change, parts, before: before?.file ?? null, after: after?.file ?? null }]
}

function digestOf({ full, complete, path, rules, body, includes }: Skill): string | null {
  if (!full || !complete) return null
  const hash = createHash('sha256')
  for (const one of [...rules, { path, ...body }, ...includes])
    hash.update(`${one.path}\n${Buffer.byteLength(one.text)}\n${one.text}`)
  return hash.digest('hex')
}

function bytesOf({ full, rules, body, includes }: Skill): number | null {
  return full ? [...rules, body, ...includes].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) : null
}
