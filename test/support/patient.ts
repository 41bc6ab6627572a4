import type { HostTimeouts } from '#infra/github/host.ts'
import { READ_RETRIES } from '#infra/github/retry.ts'
import type { RendererOptions } from '#site/lib/render-pool.ts'

/** Waits that end on no machine, however slow: only a test of patience wants an end of them. */
export const PATIENT = {
  patienceMs: 60_000,
  answerMs: 60_000,
  retryWithinMs: 60_000,
  readRetries: { ...READ_RETRIES, withinMs: 60_000 },
} satisfies HostTimeouts

/** For the thread that renders texts of pages. */
export const PATIENT_RENDERING = { limitMs: 60_000, patienceMs: 60_000 } satisfies RendererOptions

/** For a process that decodes or draws pictures. */
export const PATIENT_TASK = { taskMs: 60_000 }

/** The patience of a test of patience: no machine answers what is never answered. */
export const IMPATIENT_MS = 200
