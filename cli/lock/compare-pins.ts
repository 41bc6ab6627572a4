import type { Both, Sided } from '#core/changes/items.ts'
import { type ComparedSkill, causesOfSkill, partsOfSkill } from '#core/changes/parts.ts'
import type { Cause, SkillPart } from '#core/contract/changes.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { DeliveredFile, DeliveredText } from '#core/snapshot/delivered.ts'
import { compareBytes } from '#core/text.ts'
import { t } from '#words/t.ts'
import type { PinnedAddress, PinnedSkill, PinnedText } from './lock-file.ts'

export interface ChangedSkill {
  path: string
  /** The old path of a skill that moved. */
  movedFrom?: string
  change: 'added' | 'changed' | 'gone' | 'moved'
  /** Digests of what agents read; `null` where it is not delivered in full, or the skill is not there. */
  sha256: { before: string | null; after: string | null }
  /** `absent`: the skill is not there. */
  delivery: { before: Delivery; after: Delivery }
  /** Those that changed; none when it was added or is gone. */
  parts: SkillPart[]
  /** The files behind them, by part, then path. */
  causes: Cause[]
}

type Delivery = 'full' | 'described' | 'incomplete' | 'absent'

/** How an address differs from its pin. */
interface PinDifference {
  commit: { before: string; after: string }
  /** The address under which the host answers now; absent when it is the pinned one. */
  renamedTo?: string
  skills: ChangedSkill[]
  /** Pinned skills that a partial index does not list: whether they are gone is unknown. */
  unknown: string[]
}

/** Compares what an address has now with its pin. Pure. */
function comparePins(before: PinnedAddress, after: PinnedAddress): PinDifference {
  const earlier = new Map(before.skills.map(skill => [skill.path, skill]))
  const later = new Map(after.skills.map(skill => [skill.path, skill]))
  const unknown = after.partial === true ? before.skills.filter(({ path }) => !later.has(path)) : []
  const gone = after.partial === true ? [] : before.skills.filter(({ path }) => !later.has(path))
  const added = after.skills.filter(({ path }) => !earlier.has(path))
  const kept = after.skills.filter(({ path }) => earlier.has(path))
  const moves = findMoves(gone, added)
  const left = new Set(moves.values())
  const skills = [
    ...kept.flatMap(skill => compareSkills(earlier.get(skill.path), skill)),
    ...added.flatMap(skill => compareSkills(moves.get(skill), skill)),
    ...gone.filter(skill => !left.has(skill)).flatMap(skill => compareSkills(skill, undefined)),
  ]
  return {
    commit: { before: before.commit, after: after.commit },
    ...(isSameAddress(before.address, after.address) ? {} : { renamedTo: after.address }),
    skills: skills.toSorted((one, other) => compareBytes(one.path, other.path)),
    unknown: unknown.map(({ path }) => path),
  }
}

/** By the skill at its new path: the one that is gone and has the same `SKILL.md`. Each is taken once. */
function findMoves(gone: readonly PinnedSkill[], added: readonly PinnedSkill[]): Map<PinnedSkill, PinnedSkill> {
  const left = Map.groupBy(gone, digestOf)
  return new Map(
    added.flatMap(skill => {
      const digest = digestOf(skill)
      const earlier = digest === null ? undefined : left.get(digest)?.shift()
      return earlier === undefined ? [] : [[skill, earlier] as const]
    }),
  )
}

/** Of the `SKILL.md`. */
function digestOf({ path, files }: PinnedSkill): string | null {
  return files.find(file => file.path === path)?.sha256 ?? null
}

/** Whether the difference changes what agents read. A commit that moved alone does not. */
function changesContent({ renamedTo, skills }: PinDifference): boolean {
  return renamedTo !== undefined || skills.length > 0
}

function hasMoved({ commit }: PinDifference): boolean {
  return commit.before !== commit.after
}

/** Owners and repositories of GitHub compare without case. */
export function isSameAddress(left: string, right: string): boolean {
  const folded = (address: string) => {
    const [, host = '', owner = '', repository = '', ...path] = address.split('/')
    if (host !== 'gh') return address
    const [name = '', ...ref] = repository.split('@')
    return [host, owner.toLowerCase(), [name.toLowerCase(), ...ref].join('@'), ...path].join('/')
  }
  return folded(left) === folded(right)
}

function compareSkills(before: PinnedSkill | undefined, after: PinnedSkill | undefined): ChangedSkill[] {
  const path = (after ?? before)?.path ?? ''
  const sha256 = { before: before?.sha256 ?? null, after: after?.sha256 ?? null }
  const delivery = { before: deliveryOf(before), after: deliveryOf(after) }
  if (!before || !after) return [{ path, change: before ? 'gone' : 'added', sha256, delivery, parts: [], causes: [] }]
  const pair = pairOf(before, after)
  const parts = partsOfSkill(pair)
  const difference = { sha256, delivery, parts, causes: causesOfSkill(pair, parts) }
  if (before.path !== path) return [{ path, movedFrom: before.path, change: 'moved', ...difference }]
  return parts.length === 0 ? [] : [{ path, change: 'changed', ...difference }]
}

function deliveryOf(skill: PinnedSkill | undefined): Delivery {
  return skill === undefined ? 'absent' : (skill.delivery ?? 'full')
}

/** Pins as sides of a comparison of commits. */
function pairOf(before: PinnedSkill, after: PinnedSkill): Both<ComparedSkill> {
  // A `SKILL.md` that differs below the same text differs in its front matter, perhaps in fields that agents do not read.
  const isSameText = before.body === after.body
  return { before: sideOf(before, isSameText), after: sideOf(after, isSameText) }
}

function sideOf(skill: PinnedSkill, withFile: boolean): Sided<ComparedSkill> {
  const { path, delivery, license, rules, body, includes, files } = skill
  const metadata = withFile ? `${skill.metadata} ${digestOf(skill)}` : skill.metadata
  const row = { directory: parentOf(path as RepoPath), metadata, license }
  if (body === null) return { path, row }
  const full = {
    complete: delivery === undefined,
    rules: rules.map(deliveredText),
    body: deliveredText({ path, sha256: body }),
    includes: includes.map(deliveredText),
    declared: [],
    // A file that is too large has no digest, and differs from every file that has one.
    files: files.filter(file => file.path !== path).map(({ path, sha256 }) => deliveredFile(path, sha256 ?? '')),
  }
  return { path, row: { ...row, full } }
}

/** Sizes and executable bits are not pinned. */
function deliveredText({ path, sha256 }: PinnedText): DeliveredText {
  return [path, sha256, 0]
}

function deliveredFile(path: string, digest: string): DeliveredFile {
  return [path, 0, digest, 0]
}

/** What became of a pinned address. */
export type Verdict =
  | { address: string; status: 'same'; commit: string; skills: number }
  | ({ address: string; status: 'different' } & PinDifference)
  | { address: string; status: 'gone'; error: Problem }
  /** It could not be read, or not all of it: whether it changed is unknown. */
  | { address: string; status: 'unverified'; error: Problem }

export interface Problem {
  code: string
  message: string
}

/** What an address has now, or why that is unknown. */
export type Reading = { pin: PinnedAddress } | { error: Problem; isGone: boolean }

/** Compares a pinned address with its present reading. Pure. */
export function judge(pinned: PinnedAddress, reading: Reading): Verdict {
  const { address } = pinned
  if ('error' in reading) return { address, status: reading.isGone ? 'gone' : 'unverified', error: reading.error }
  const difference = comparePins(pinned, reading.pin)
  if (hasMoved(difference) || changesContent(difference)) return { address, status: 'different', ...difference }
  const { unknown, commit } = difference
  if (unknown.length > 0) return { address, status: 'unverified', error: partial(unknown) }
  return { address, status: 'same', commit: commit.after, skills: reading.pin.skills.length }
}

function partial(unknown: readonly string[]): Problem {
  const [path = '', ...others] = unknown
  const n = others.length
  const message = n === 0 ? t('problem.skillNotInIndex', { path }) : t('problem.skillsNotInIndex', { path, n })
  return { code: 'index.partial', message }
}

/** Exit codes of `mountglass verify`. */
const VERIFIED = { same: 0, different: 1, unverified: 3 } as const

/**
 * A difference outweighs an address that could not be read.
 *
 * @param allowMoved a commit that moved without changing what agents read is no difference
 */
export function exitCodeOf(verdicts: readonly Verdict[], allowMoved: boolean): number {
  const isDifferent = (verdict: Verdict) =>
    verdict.status === 'gone' || (verdict.status === 'different' && (!allowMoved || changesContent(verdict)))
  if (verdicts.some(isDifferent)) return VERIFIED.different
  const isUnknown = (verdict: Verdict) =>
    verdict.status === 'unverified' || (verdict.status === 'different' && verdict.unknown.length > 0)
  return verdicts.some(isUnknown) ? VERIFIED.unverified : VERIFIED.same
}
