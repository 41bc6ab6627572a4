/**
 * Niceness of everything that runs beside the answers of the service and may need more processor time than there is: jobs, git, and the thread that
 * renders. One number for all, so that none of them waits for ever behind another.
 */
export const YIELDING_NICENESS = 10
