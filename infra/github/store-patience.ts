/** The variable of a process whose store may answer as late as it likes, as on a test's busy machine. It is no setting for operators. */
export const STORE_PATIENCE = '_MOUNTGLASS_STORE_PATIENCE_MS'

const PATIENCE_MS = 250

/** How long a visitor waits for what other processes of the deployment know before the host is asked, in milliseconds. */
export function storePatienceMs(env: NodeJS.ProcessEnv): number {
  return Number(env[STORE_PATIENCE]) || PATIENCE_MS
}
