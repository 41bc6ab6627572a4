/** The variable of a process that ends soon, as in a test. It is no setting for operators. */
export const AHEAD = '_MOUNTGLASS_AHEAD'

/** Whether a process prepares for jobs that may come. To warm one up takes several times the processor time of a small job. */
export function preparesAhead(env: NodeJS.ProcessEnv): boolean {
  return env[AHEAD] !== 'off'
}
