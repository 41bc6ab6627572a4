import { setFlagsFromString } from 'node:v8'

/**
 * Functions are optimized to the last stage after ten times as many calls as usual. In the first job of a process, the compiler takes a third of its
 * processor time with functions that are called too seldom afterwards to be worth it. Decision 0118. Call it before the first job.
 */
export function optimizeLater(): void {
  setFlagsFromString(`--invocation-count-for-turbofan=${10 * USUAL_INVOCATIONS}`)
}

/** For a job so long that each function is soon worth it. */
export function optimizeAsUsual(): void {
  setFlagsFromString(`--invocation-count-for-turbofan=${USUAL_INVOCATIONS}`)
}

/** V8's own number. */
const USUAL_INVOCATIONS = 3_000
