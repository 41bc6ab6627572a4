import { t } from '#words/t.ts'
import { changesContent, comparePins, hasMoved, type PinDifference } from './compare-pins.ts'
import type { PinnedAddress } from './lock-file.ts'

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
export const VERIFIED = { same: 0, different: 1, unverified: 3 } as const

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
