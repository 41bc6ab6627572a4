import { compareBytes } from '#core/text.ts'
import type { PinnedAddress, PinnedFile, PinnedSkill } from './lock-file.ts'

export interface ChangedFile {
  path: string
  change: 'added' | 'changed' | 'gone'
}

export interface ChangedSkill {
  path: string
  change: 'added' | 'changed' | 'gone'
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
  const paths = [...new Set([...earlier.keys(), ...later.keys()])].sort(compareBytes)
  const isMissing = (path: string) => after.partial === true && !later.has(path)
  return {
    commit: { before: before.commit, after: after.commit },
    ...(isSameAddress(before.address, after.address) ? {} : { renamedTo: after.address }),
    skills: paths.flatMap(path => (isMissing(path) ? [] : compareSkills(path, earlier.get(path), later.get(path)))),
    unknown: paths.filter(isMissing),
  }
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

function compareSkills(path: string, before: PinnedSkill | undefined, after: PinnedSkill | undefined): ChangedSkill[] {
  const sha256 = { before: before?.sha256 ?? null, after: after?.sha256 ?? null }
  const delivery = { before: deliveryOf(before), after: deliveryOf(after) }
  if (!before || !after) return [{ path, change: before ? 'gone' : 'added', sha256, delivery, files: [] }]
  const files = compareFiles(before.files, after.files)
  const isSame = sha256.before === sha256.after && delivery.before === delivery.after && files.length === 0
  return isSame ? [] : [{ path, change: 'changed', sha256, delivery, files }]
}

function deliveryOf(skill: PinnedSkill | undefined): Delivery {
  return skill === undefined ? 'absent' : (skill.delivery ?? 'full')
}

function compareFiles(before: readonly PinnedFile[], after: readonly PinnedFile[]): ChangedFile[] {
  const earlier = new Map(before.map(file => [file.path, file.sha256]))
  const later = new Map(after.map(file => [file.path, file.sha256]))
  const paths = [...new Set([...earlier.keys(), ...later.keys()])].sort(compareBytes)
  return paths.flatMap((path): ChangedFile[] => {
    if (!later.has(path)) return [{ path, change: 'gone' }]
    if (!earlier.has(path)) return [{ path, change: 'added' }]
    return earlier.get(path) === later.get(path) ? [] : [{ path, change: 'changed' }]
  })
}
