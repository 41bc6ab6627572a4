import { compareBytes } from '#core/text.ts'
import type { PinnedAddress, PinnedFile, PinnedSkill } from './lock-file.ts'

export interface ChangedFile {
  path: string
  change: 'added' | 'changed' | 'gone'
}

export interface ChangedSkill {
  path: string
  /** The old path of a skill that moved. */
  movedFrom?: string
  change: 'added' | 'changed' | 'gone' | 'moved'
  /** Digests of what agents read; `null` where it is not delivered in full, or the skill is not there. */
  sha256: { before: string | null; after: string | null }
  /** `absent`: the skill is not there. */
  delivery: { before: Delivery; after: Delivery }
  files: ChangedFile[]
}

type Delivery = 'full' | 'described' | 'incomplete' | 'absent'

/** How an address differs from its pin. */
export interface PinDifference {
  commit: { before: string; after: string }
  /** The address under which the host answers now; absent when it is the pinned one. */
  renamedTo?: string
  skills: ChangedSkill[]
  /** Pinned skills that a partial index does not list: whether they are gone is unknown. */
  unknown: string[]
}

/** Compares what an address has now with its pin. Pure. */
export function comparePins(before: PinnedAddress, after: PinnedAddress): PinDifference {
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
export function changesContent({ renamedTo, skills }: PinDifference): boolean {
  return renamedTo !== undefined || skills.length > 0
}

export function hasMoved({ commit }: PinDifference): boolean {
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
  if (!before || !after) return [{ path, change: before ? 'gone' : 'added', sha256, delivery, files: [] }]
  const files = compareFiles(before, after)
  if (before.path !== path) return [{ path, movedFrom: before.path, change: 'moved', sha256, delivery, files }]
  const isSame = sha256.before === sha256.after && delivery.before === delivery.after && files.length === 0
  return isSame ? [] : [{ path, change: 'changed', sha256, delivery, files }]
}

function deliveryOf(skill: PinnedSkill | undefined): Delivery {
  return skill === undefined ? 'absent' : (skill.delivery ?? 'full')
}

/** The files of a skill that moved are compared by their paths in its folder. A file that is gone has its old path. */
function compareFiles(before: PinnedSkill, after: PinnedSkill): ChangedFile[] {
  const earlier = filesByPlace(before)
  const later = filesByPlace(after)
  const places = [...new Set([...earlier.keys(), ...later.keys()])].sort(compareBytes)
  return places.flatMap((place): ChangedFile[] => {
    const [was, is] = [earlier.get(place), later.get(place)]
    if (!is) return was ? [{ path: was.path, change: 'gone' }] : []
    if (!was) return [{ path: is.path, change: 'added' }]
    return was.sha256 === is.sha256 ? [] : [{ path: is.path, change: 'changed' }]
  })
}

function filesByPlace({ path, files }: PinnedSkill): Map<string, PinnedFile> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return new Map(files.map(file => [file.path.startsWith(folder) ? file.path.slice(folder.length) : `/${file.path}`, file]))
}
