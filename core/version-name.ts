/** A tag whose name ends in a version. */
export interface VersionName {
  /** What stands before it: `skills-` of `skills-v1.2`. The letter v is no part of it. */
  prefix: string
  /** `1`, `2`, `0` of `1.2.0`, digits without leading zeros. */
  numbers: readonly string[]
  /** `rc`, `1` of `1.0-rc.1`; empty for a release. */
  preRelease: readonly string[]
}

/** A longer name is none that people give to a version. */
const NAME_CHARACTERS = 100
const LONGEST_NUMBER = 30
const BUILD = /\+[0-9a-z.-]+$/i
const PRE_RELEASE =
  /^(.*\d)[-._]?((?:alpha|beta|rc|pre|preview|dev|canary|next|snapshot|milestone)[-._]?\d*(?:\.\d+)?|[abcm]\d+)$/i
/** Of a version of three numbers, any word. */
const OTHER_PRE_RELEASE = /^(.*\d\.\d+\.\d+)-([a-z](?:[a-z-]|\d(?!\.\d)|\.)*)$/i
const DATE = /^(.*\D|)(\d{4}-\d\d-\d\d)$/
const NUMBERS = /^(.*[^\d.]|)(\d+(?:\.\d+)*)$/

/** Reads the last part of a name that is a version; `null` when it has none. */
export function readVersionName(name: string): VersionName | null {
  if (name.length > NAME_CHARACTERS) return null
  const released = name.replace(BUILD, '')
  const [, rest = released, preRelease = ''] = PRE_RELEASE.exec(released) ?? OTHER_PRE_RELEASE.exec(released) ?? []
  const [, before = '', digits = ''] = DATE.exec(rest) ?? NUMBERS.exec(rest) ?? []
  const numbers = digits.split(/[.-]/).map(withoutZeros)
  if (digits === '' || numbers.some(part => part.length > LONGEST_NUMBER)) return null
  const parts = preRelease.toLowerCase().match(/\d+|[a-z]+/g) ?? []
  return {
    prefix: before.replace(/(^|[^a-z])v$/i, '$1'),
    numbers,
    preRelease: parts.map(part => (/^\d/.test(part) ? withoutZeros(part) : part)),
  }
}

/** Orders versions: a pre-release comes before its release, `rc2` before `rc10`. */
export function compareVersions(left: VersionName, right: VersionName): number {
  return (
    compareLists(left.numbers, right.numbers, '0') ||
    Number(left.preRelease.length === 0) - Number(right.preRelease.length === 0) ||
    compareLists(left.preRelease, right.preRelease, '')
  )
}

/** @param missing stands for what the shorter list lacks */
function compareLists(left: readonly string[], right: readonly string[], missing: string): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const order = compareParts(left[at] ?? missing, right[at] ?? missing)
    if (order !== 0) return order
  }
  return 0
}

/** Numbers by their value and before words, words by their letters; nothing comes first. */
function compareParts(left: string, right: string): number {
  if (left === right) return 0
  if (left === '' || right === '') return left === '' ? -1 : 1
  const [isNumber, isOtherNumber] = [/^\d/.test(left), /^\d/.test(right)]
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  if (isNumber && left.length !== right.length) return left.length - right.length
  return left < right ? -1 : 1
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '')
}
