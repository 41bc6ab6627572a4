/**
 * Niceness of everything that runs beside the answers of the service and may need more processor time than there is: jobs, git, and the thread that
 * renders. One number for all, so that none of them waits for ever behind another.
 */
export const YIELDING_NICENESS = 10

/**
 * Niceness of a process for jobs until a job of it has turned out to be long. So a small job gets ahead of a long one, and of a busy event loop
 * for the tenths of a second that it takes.
 */
export const SHORT_JOB_NICENESS = 5
