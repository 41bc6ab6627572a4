import { fileURLToPath } from 'node:url'

/** The program of a job process. */
export const JOB_PROGRAM = fileURLToPath(new URL('./job-main.ts', import.meta.url))
