import { z } from 'zod'
import { CommitSha } from '../commit-sha.ts'

/** Entries of the state store that decide how long snapshots are kept. Opening a snapshot writes them; only `mountglass sweep` reads them. */

/** The day on which a snapshot was last opened, in UTC. */
export const ReadMark = z.object({ day: z.iso.date() })
export type ReadMark = z.infer<typeof ReadMark>

/** The commit of a ref when it was last opened. */
export const SeenRef = z.object({
  ref: z.string(),
  commit: CommitSha,
  seenAt: z.iso.datetime(),
})
export type SeenRef = z.infer<typeof SeenRef>

/** The host hides a repository that was public. Outages do not count. */
export const HiddenRepository = z.object({ since: z.iso.datetime() })
export type HiddenRepository = z.infer<typeof HiddenRepository>
