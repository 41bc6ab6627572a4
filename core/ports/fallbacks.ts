import type { Metrics } from './metrics.ts'

/** The fallbacks of this program, by kind: a failure that costs something and fails no answer and no job. Each is one message of the log. */
export const FALLBACKS = {
  earlier_snapshot: 'an earlier snapshot cannot be reused: what it holds is read and stored again',
  last_commit: 'the last indexed commit of a repository is not known: its next commit is built from scratch',
  damage_report: 'a report of damage was lost: the next reader of the damage reports it again',
  hidden_note: 'a note that a repository is hidden, or shown again, was lost: the next visit makes it',
  owner_listing:
    'a listing of a repository under its owner was lost or left out: the next visit of its default branch lists it again',
  lease_renewal: 'a lease was not renewed: the next renewal tries again',
  warm_up: 'a job process could not warm up: its next job takes longer',
  temporary_folder: 'the temporary folder of a job process was not removed: it takes disk space',
  change_feed:
    'changes of repositories could not be told to the other processes, or read: they see them when their cached answers expire',
  shared_answers:
    'answers of the host could not be shared with the other processes: each asks for itself, which takes more of the quota',
  pictures: 'the process that decodes or draws pictures could not be started: pages and links show none',
  operator_content: 'the published content of the operator could not be read: the service goes on with what it has',
  last_used: 'the last use of a session or token was not noted: the next use notes it again',
  keep_alive: 'the sign-ins of people with tokens could not be kept alive: the next round tries again',
  rendering: 'a text of a page could not be rendered: the page shows its exact text',
} as const

export type FallbackKind = keyof typeof FALLBACKS

/** Receives the failures after which the work goes on. Never throws. */
export interface Fallbacks {
  /** @param cause the failure, for the log */
  note(kind: FallbackKind, cause: unknown): void
}

export const NO_FALLBACKS: Fallbacks = { note() {} }

/** Where fallbacks are logged. */
export interface FallbackLog {
  warn(fields: object, message: string): void
}

/** Counts every fallback, and logs the first of each kind with its cause: a store that is away fails thousands of times. */
export function createFallbacks(metrics: Pick<Metrics, 'record'>, log: FallbackLog): Fallbacks {
  const logged = new Set<FallbackKind>()
  return {
    note(kind, cause) {
      metrics.record('mountglass_fallbacks_total', { kind }, 1)
      if (logged.has(kind)) return
      logged.add(kind)
      log.warn({ err: cause, fallback: kind }, `${FALLBACKS[kind]} (logged once; mountglass_fallbacks_total counts)`)
    },
  }
}
