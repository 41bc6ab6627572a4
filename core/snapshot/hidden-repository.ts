import { z } from 'zod'

/** The entry of the state store that says since when the host hides a repository. Outages do not count. */
export const HiddenRepository = z.object({ since: z.iso.datetime() })
export type HiddenRepository = z.infer<typeof HiddenRepository>
