import type { HostTimeouts } from './host.ts'

/** The variable of a process whose host and store may answer as late as they like, as on a test's busy machine. It is no setting for operators. */
export const PATIENCE = '_MOUNTGLASS_PATIENCE_MS'

const STORE_MS = 250

/** How long a visitor waits for what other processes of the deployment know before the host is asked, in milliseconds. */
export function storePatienceMs(env: NodeJS.ProcessEnv): number {
  return Number(env[PATIENCE]) || STORE_MS
}

/** How long a read of the changes of other processes may take. Empty: as long as the feed says. */
export function feedTimeouts(env: NodeJS.ProcessEnv): { readMs?: number } {
  const readMs = Number(env[PATIENCE])
  return readMs > 0 ? { readMs } : {}
}

/** How long a visitor waits for the host. Empty: as long as the driver says. */
export function hostTimeouts(env: NodeJS.ProcessEnv): HostTimeouts {
  const milliseconds = Number(env[PATIENCE])
  return milliseconds > 0 ? { patienceMs: milliseconds, answerMs: milliseconds, retryWithinMs: milliseconds } : {}
}
