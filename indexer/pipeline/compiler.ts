import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 optimize a function to the last stage after ten times as many calls as usual. In the first job of a process, a third of the processor time
 * would go into functions that are called too seldom afterwards to be worth it. Decision 0118. Call it before the first job.
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
