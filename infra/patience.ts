import type { HostTimeouts } from './github/host.ts'

/** The variable of a process whose host and stores may answer as late as they like, as on a test's busy machine. It is no setting for operators. */
export const PATIENCE = '_MOUNTGLASS_PATIENCE_MS'

const STORE_MS = 250

/** How long a visitor waits for what other processes of the deployment know before the host is asked, in milliseconds. */
export function storePatienceMs(env: NodeJS.ProcessEnv): number {
  return patienceMs(env) ?? STORE_MS
}

/** How long a read of the changes of other processes may take. Empty: as long as the feed says. */
export function feedTimeouts(env: NodeJS.ProcessEnv): { readMs?: number } {
  const readMs = patienceMs(env)
  return readMs === null ? {} : { readMs }
}

/** How long a bucket may take to answer. Empty: as long as the driver says. */
export function bucketTimeouts(env: NodeJS.ProcessEnv): { answerMs?: number } {
  const answerMs = patienceMs(env)
  return answerMs === null ? {} : { answerMs }
}

/** How long a visitor waits for the host. Empty: as long as the driver says. */
export function hostTimeouts(env: NodeJS.ProcessEnv): HostTimeouts {
  const milliseconds = patienceMs(env)
  return milliseconds === null ? {} : { patienceMs: milliseconds, answerMs: milliseconds, retryWithinMs: milliseconds }
}

function patienceMs(env: NodeJS.ProcessEnv): number | null {
  const milliseconds = Number(env[PATIENCE])
  return milliseconds > 0 ? milliseconds : null
}
