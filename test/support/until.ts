import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again and again until it is so; the time of the test is the bound. For what nobody tells of. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}
