import { PATIENT_PROCESS } from './patient.ts'

/**
 * What a program of ours receives from the environment of the tests, and nothing else: where git lies, and the compiled sources. In a test it waits for as long as a busy machine takes; in benches and attacks it is as it is shipped. Without compiled
 * sources a process that `mountglass` does not start compiles each of its sources, which doubles the processor time of a start.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE, VITEST } = process.env
  return { PATH, NODE_COMPILE_CACHE, ...(VITEST && PATIENT_PROCESS) }
}
