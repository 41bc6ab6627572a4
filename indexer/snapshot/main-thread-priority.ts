import { getPriority, setPriority } from 'node:os'

/** Gives this thread the priority of the main thread. On Linux each has its own, and the worker changes the priority of the main thread only. Decision 0109. */
export function followMainThread(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(getPriority(process.pid))
  } catch {
    // To yield less than before is a privilege.
  }
}
