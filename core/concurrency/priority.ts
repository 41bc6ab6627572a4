/**
 * Niceness of everything that runs beside the answers of the service and may need more processor time than there is: long jobs, git, and the thread
 * that renders. One number for all, so that none of them waits for ever behind another.
 */
export const YIELDING_NICENESS = 10

/** Niceness of other jobs, which are over within seconds: they get ahead of long ones. */
export const SHORT_JOB_NICENESS = 5
