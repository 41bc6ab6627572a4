/**
 * The variable of a process that waits for everything as long as it says, in milliseconds: visitors of a test's busy machine shall miss nothing
 * because it is late. It is no setting for operators.
 */
export const PATIENCE = '_MOUNTGLASS_PATIENCE_MS'

/** How long a visitor waits, wherever something else is answered, or nothing, afterwards; `null`: each place has its own patience. */
export function patienceMsOf(env: NodeJS.ProcessEnv): number | null {
  return Number(env[PATIENCE]) || null
}
