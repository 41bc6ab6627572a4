import type { Overview } from '#core/contract/mount.ts'

/** How many of the skills of an address are under the license in a file. */
export interface Governed {
  skills: number
  all: number
}

/** `null` for a file that is no license of a skill, and where the overview does not list all skills. */
export function countGoverned({ skills, counts, truncated }: Overview, path: string): Governed | null {
  if (truncated || skills.length !== counts.skills) return null
  const governed = skills.filter(({ license }) => license.source === path && license.line === undefined).length
  return governed === 0 ? null : { skills: governed, all: skills.length }
}
