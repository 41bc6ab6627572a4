import {
  type Cause,
  DOCUMENT_PARTS,
  type DocumentPart,
  MANIFEST_PARTS,
  type ManifestPart,
  SKILL_PARTS,
  type SkillPart,
} from '../contract/changes.ts'
import type { License } from '../contract/shared.ts'
import type {
  DeclaredInclude,
  DeliveredDocument,
  DeliveredFile,
  DeliveredManifest,
  DeliveredSkill,
  DeliveredText,
} from '../snapshot/delivered.ts'
import { compareBytes } from '../text.ts'
import type { Both, Sided } from './items.ts'

/* Which parts of an item differ, and which files cause it. Pure. */

type DeliveredContent = NonNullable<DeliveredSkill['full']>

/** What of a skill is compared. */
export interface ComparedSkill extends Pick<DeliveredSkill, 'directory' | 'metadata' | 'license'> {
  full?: Pick<DeliveredContent, 'rules' | 'body' | 'includes' | 'declared' | 'files' | 'complete'> | undefined
}

/** The parts of a skill that differ. */
export function partsOfSkill({ before, after }: Both<ComparedSkill>): SkillPart[] {
  // What did not move is most: nothing needs to be spelled anew.
  const [old, new_] = before.row.directory === after.row.directory ? [AS_IS, AS_IS] : [localTo(before), localTo(after)]
  const [was, is] = [before.row.full, after.row.full]
  const differs: Record<SkillPart, boolean> = {
    rules: spellTexts(was?.rules, old) !== spellTexts(is?.rules, new_),
    body: was?.body[1] !== is?.body[1],
    includes: spellTexts(was?.includes, old) !== spellTexts(is?.includes, new_),
    files: !haveSameFiles(byLocalPath(was?.files ?? [], old), byLocalPath(is?.files ?? [], new_)),
    metadata: before.row.metadata !== after.row.metadata,
    license: spellLicense(before.row.license, old) !== spellLicense(after.row.license, new_),
    serving: (was === undefined) !== (is === undefined) || (was?.complete ?? true) !== (is?.complete ?? true),
  }
  return SKILL_PARTS.filter(part => differs[part])
}

export function partsOfDocument({ before, after }: Both<DeliveredDocument>): DocumentPart[] {
  const differs: Record<DocumentPart, boolean> = {
    body: before.row.file?.sha256 !== after.row.file?.sha256,
    metadata: before.row.title !== after.row.title || before.row.summary !== after.row.summary,
    license: spellLicense(before.row.license, AS_IS) !== spellLicense(after.row.license, AS_IS),
    serving: before.row.full !== after.row.full,
  }
  return DOCUMENT_PARTS.filter(part => differs[part])
}

export function partsOfManifest({ before, after }: Both<DeliveredManifest>): ManifestPart[] {
  const differs: Record<ManifestPart, boolean> = {
    rules: before.row.rules !== after.row.rules,
    includes: before.row.include !== after.row.include,
    exclusions: before.row.exclude !== after.row.exclude,
    license: before.row.license !== after.row.license,
    metadata: before.row.metadata !== after.row.metadata,
  }
  return MANIFEST_PARTS.filter(part => differs[part])
}

/** The files that cause the changes of a skill, by part, then path. @param parts those that differ */
export function causesOfSkill(pair: Both<ComparedSkill>, parts: readonly SkillPart[]): Cause[] {
  return parts.flatMap(part =>
    causesOfPart(pair, part)
      .map(({ path, change }): Cause => ({ part, path, change }))
      .sort((left, right) => compareBytes(left.path, right.path) || compareBytes(left.change, right.change)),
  )
}

type CauseOfPart = Pick<Cause, 'path' | 'change'>

function causesOfPart(pair: Both<ComparedSkill>, part: SkillPart): CauseOfPart[] {
  const { before, after } = pair
  const [was, is] = [before.row.full, after.row.full]
  switch (part) {
    case 'rules':
      return causesIn(pair, was?.rules ?? [], is?.rules ?? [], haveSameText)
    case 'body':
      return causesIn(pair, was ? [was.body] : [], is ? [is.body] : [], haveSameText)
    case 'includes':
      return withoutDuplicates([
        ...causesIn(pair, was?.includes ?? [], is?.includes ?? [], haveSameText),
        // A side that describes only has no list.
        ...(was && is ? causesOfDeclared(pair, was.declared, is.declared) : []),
      ])
    case 'files':
      return causesIn(pair, was?.files ?? [], is?.files ?? [], isSameFile)
    case 'metadata':
      return [{ path: after.path, change: 'changed' }]
    case 'license':
      return causesOfLicense(pair)
    case 'serving':
      return (was === undefined) === (is === undefined) ? [] : causesOfLicense(pair)
  }
}

/** What was added, removed or differs, of lists whose entries begin with a path. */
function causesIn<Entry extends readonly [path: string, ...unknown[]]>(
  { before, after }: Both<ComparedSkill>,
  left: readonly Entry[],
  right: readonly Entry[],
  isSame: (left: Entry, right: Entry) => boolean,
): CauseOfPart[] {
  const was = byLocalPath(left, localTo(before))
  const is = byLocalPath(right, localTo(after))
  const removed = [...was].filter(([path]) => !is.has(path)).map(([, [path]]): CauseOfPart => ({ path, change: 'removed' }))
  const others = [...is].flatMap(([local, entry]): CauseOfPart[] => {
    const earlier = was.get(local)
    if (earlier === undefined) return [{ path: entry[0], change: 'added' }]
    return isSame(earlier, entry) ? [] : [{ path: entry[0], change: 'changed' }]
  })
  return [...removed, ...others]
}

/** A list that begins or ends is a change of its file where both sides have the file. */
function causesOfDeclared(
  pair: Both<ComparedSkill>,
  left: readonly DeclaredInclude[],
  right: readonly DeclaredInclude[],
): CauseOfPart[] {
  const [was, is] = [byLocalPath(left, localTo(pair.before)), byLocalPath(right, localTo(pair.after))]
  const counts =
    (other: ReadonlyMap<string, unknown>, local: LocalPath) =>
    ([path, list]: DeclaredInclude) =>
      list !== null || other.has(local(path))
  return causesIn(
    pair,
    left.filter(counts(is, localTo(pair.before))),
    right.filter(counts(was, localTo(pair.after))),
    ([, one], [, other]) => one === other,
  )
}

function causesOfLicense({ before, after }: Both<ComparedSkill>): CauseOfPart[] {
  const [was, is] = [before.row.license.source, after.row.license.source]
  const isSame = was !== null && is !== null && localTo(before)(was) === localTo(after)(is)
  if (isSame) return [{ path: is, change: 'changed' }]
  return [
    ...(was === null ? [] : [{ path: was, change: 'removed' as const }]),
    ...(is === null ? [] : [{ path: is, change: 'added' as const }]),
  ]
}

/** A file that was a cause already is not named again. */
function withoutDuplicates(causes: readonly CauseOfPart[]): CauseOfPart[] {
  return causes.filter((cause, index) => causes.findIndex(({ path }) => path === cause.path) === index)
}

/** How a path is compared: below the directory of a skill relative to it, so that a skill that moves keeps what it has. */
export type LocalPath = (path: string) => string

export function localTo({ row: { directory } }: Sided<Pick<DeliveredSkill, 'directory'>>): LocalPath {
  const prefix = directory === '' ? '' : `${directory}/`
  return path => (path.startsWith(prefix) ? `\0${path.slice(prefix.length)}` : path)
}

const AS_IS: LocalPath = path => path

export function byLocalPath<Entry extends readonly [path: string, ...unknown[]]>(
  entries: readonly Entry[],
  local: LocalPath,
): Map<string, Entry> {
  return new Map(entries.map(entry => [local(entry[0]), entry]))
}

function spellTexts(texts: readonly DeliveredText[] | undefined, local: LocalPath): string {
  return (texts ?? []).map(([path, sha256]) => `${local(path)}\n${sha256}\n`).join('')
}

/** All three fields. */
function spellLicense({ kind, name, source }: License, local: LocalPath): string {
  return JSON.stringify([kind, name, source === null ? null : local(source)])
}

function haveSameText([, left]: DeliveredText, [, right]: DeliveredText): boolean {
  return left === right
}

function haveSameFiles(left: ReadonlyMap<string, DeliveredFile>, right: ReadonlyMap<string, DeliveredFile>): boolean {
  if (left.size !== right.size) return false
  for (const [path, file] of left) {
    const other = right.get(path)
    if (other === undefined || !isSameFile(file, other)) return false
  }
  return true
}

/** Where the digests of both sides are not of one kind, the sizes decide. */
function isSameFile(
  [, size, digest, executable]: DeliveredFile,
  [, otherSize, otherDigest, otherExecutable]: DeliveredFile,
): boolean {
  const mayBeSame = digest === null || otherDigest === null || isOfBlob(digest) !== isOfBlob(otherDigest)
  return size === otherSize && executable === otherExecutable && (mayBeSame || digest === otherDigest)
}

function isOfBlob(digest: string): boolean {
  return digest.startsWith('git:')
}
