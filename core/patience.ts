/**
 * The variable of a process that waits for everything as long as it says, in milliseconds: visitors of a test's busy machine shall miss nothing
 * because it is late. It is no setting for operators.
 */
export const PATIENCE = '_MOUNTGLASS_PATIENCE_MS'

/** How many milliseconds this process waits for a host or a store; `null`: each place has its own timeout. */
export function patienceMsOf(env: NodeJS.ProcessEnv): number | null {
  return Number(env[PATIENCE]) || null
}
