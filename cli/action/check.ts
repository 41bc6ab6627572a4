import { z } from 'zod'
import type { Checked } from '#indexer/check/schema.ts'
import { readReport } from '../check.ts'
import { requireClone } from './checkout.ts'
import type { Outcome } from './outcome.ts'

/** The field of a workflow's event that a check needs. */
const Event = z.object({ repository: z.object({ private: z.boolean() }).optional() })

/**
 * What `mountglass check` says of a clone. A private repository is checked as one.
 *
 * @throws Error when the folder is no clone, or its files cannot be read
 */
export async function checkClone(folder: string, payload: unknown): Promise<Checked> {
  const event = Event.parse(payload)
  await requireClone(folder)
  const { report } = await readReport(folder, { private: event.repository?.private === true })
  if (report.status === 'failed') throw new Error(report.message)
  return report
}

export function outcomeOfCheck({ counts, truncated, findings }: Checked): Outcome {
  return { address: null, commit: null, page: null, ...counts, isPartial: truncated, diagnostics: findings }
}
