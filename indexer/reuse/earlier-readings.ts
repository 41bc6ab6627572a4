import { isDamage } from '#core/snapshot/damage.ts'
import type { Location } from '#core/snapshot/format.ts'
import { splitSkillReadings } from '../snapshot/skill-readings.ts'
import { decodeText, type EncodedText, type KnownText, splitReadings } from '../snapshot/text-readings.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'

/** What an earlier commit read of Markdown texts. */
export interface EarlierReadings {
  /** The members that could be read. */
  readonly members: readonly Location[]
  has(oid: string): boolean
  /** A text by its blob id; `null`: it has to be parsed. */
  find(oid: string): KnownText | null
  readonly skills: EarlierSkillReadings
}

/** What an earlier commit read of skills. */
export interface EarlierSkillReadings {
  /** The members that could be read. */
  readonly members: readonly Location[]
  has(oid: string): boolean
  /**
   * The reading of a blob, as it is stored and as it is decoded; `null`: the text has to be parsed.
   *
   * @param decode may throw an error of damaged bytes
   */
  find<Reading>(oid: string, decode: (json: string) => Reading): { json: string; reading: Reading } | null
}

/** Loaded bytes of readings of texts, and as many of readings of skills. Beyond them, their texts are parsed again. */
const LOADED_BYTES = 32 * 1024 * 1024
const MEMBER_BYTES = 1024 * 1024

export const NO_READINGS: EarlierReadings = {
  members: [],
  has: () => false,
  find: () => null,
  skills: { members: [], has: () => false, find: () => null },
}

/** Loads the readings of an earlier snapshot. Damaged ones are left out. */
export async function loadReadings(earlier: EarlierSnapshot): Promise<EarlierReadings> {
  const { readings = [], skillReadings = [] } = earlier.header
  const encoded = new Map<string, EncodedText>()
  const members = await loadMembers(earlier, readings, splitReadings, (oid, text) => encoded.set(oid, text))
  return {
    members,
    has: oid => encoded.has(oid),
    find(oid) {
      const text = encoded.get(oid)
      const known = text && orNull(earlier, () => decodeText(text))
      // The next commit stores it anew.
      if (!known) encoded.delete(oid)
      return known ?? null
    },
    skills: await loadSkillReadings(earlier, skillReadings),
  }
}

async function loadSkillReadings(earlier: EarlierSnapshot, locations: readonly Location[]): Promise<EarlierSkillReadings> {
  const readings = new Map<string, string>()
  const members = await loadMembers(earlier, locations, splitSkillReadings, (oid, json) => readings.set(oid, json))
  return {
    members,
    has: oid => readings.has(oid),
    find(oid, decode) {
      const json = readings.get(oid)
      const known = json === undefined ? null : orNull(earlier, () => ({ json, reading: decode(json) }))
      if (!known) readings.delete(oid)
      return known
    },
  }
}

/** The locations of the members that could be read. */
async function loadMembers<Entry>(
  earlier: EarlierSnapshot,
  locations: readonly Location[],
  split: (member: Uint8Array) => Iterable<readonly [oid: string, entry: Entry]>,
  take: (oid: string, entry: Entry) => void,
): Promise<Location[]> {
  const members: Location[] = []
  let loadedBytes = 0
  for (const location of locations) {
    const member = await earlier.member(location, MEMBER_BYTES)
    const entries = member && orNull(earlier, () => [...split(member)])
    if (member === null || entries === null) continue
    loadedBytes += member.length
    if (loadedBytes > LOADED_BYTES) break
    for (const [oid, entry] of entries) take(oid, entry)
    members.push(location)
  }
  return members
}

function orNull<Value>(earlier: EarlierSnapshot, read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (!isDamage(error)) throw error
    earlier.lost(error)
    return null
  }
}
