import { isDamage } from '#core/snapshot/damage.ts'
import type { Location } from '#core/snapshot/format.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'
import { decodeText, type EncodedText, type KnownText, splitReadings } from './text-readings.ts'

/** What an earlier commit read of Markdown texts. */
export interface EarlierReadings {
  /** The members that could be read. */
  readonly members: readonly Location[]
  has(oid: string): boolean
  /** A text by its blob id; `null`: it has to be parsed. */
  find(oid: string): KnownText | null
}

/** Loaded bytes of readings. Beyond them, texts are parsed again. */
const LOADED_BYTES = 32 * 1024 * 1024
const MEMBER_BYTES = 1024 * 1024

export const NO_READINGS: EarlierReadings = {
  members: [],
  has: () => false,
  find: () => null,
}

/** Loads the readings of an earlier snapshot. Damaged ones are left out. */
export async function loadReadings(earlier: EarlierSnapshot): Promise<EarlierReadings> {
  const encoded = new Map<string, EncodedText>()
  const members: Location[] = []
  let loadedBytes = 0
  for (const location of earlier.header.readings ?? []) {
    const member = await earlier.member(location, MEMBER_BYTES)
    const entries = member && orNull(earlier, () => [...splitReadings(member)])
    if (member === null || entries === null) continue
    loadedBytes += member.length
    if (loadedBytes > LOADED_BYTES) break
    for (const [oid, text] of entries) encoded.set(oid, text)
    members.push(location)
  }
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
  }
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
