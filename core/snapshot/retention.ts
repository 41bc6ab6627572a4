import { z } from 'zod'
import { CommitSha } from '../commit-sha.ts'

/** Documents that tell how long snapshots are kept. They are written when somebody opens one, and read by `mountglass sweep` alone. */

/** The day, in UTC, on which a snapshot was opened last. */
export const ReadMark = z.object({ day: z.iso.date() })
export type ReadMark = z.infer<typeof ReadMark>

/** Where a ref pointed when somebody opened it last. */
export const SeenRef = z.object({
  ref: z.string(),
  commit: CommitSha,
  seenAt: z.iso.datetime(),
})
export type SeenRef = z.infer<typeof SeenRef>

/** The host showed the repository to everyone and says that it does so no more. An outage says nothing. */
export const HiddenRepository = z.object({ since: z.iso.datetime() })
export type HiddenRepository = z.infer<typeof HiddenRepository>
