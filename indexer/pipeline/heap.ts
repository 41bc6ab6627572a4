import { setFlagsFromString } from 'node:v8'

/**
 * Arguments of node for a process that indexes. What is young is collected before there is much of it: the default lets three times sixteen
 * megabytes of it gather, and what came over the network with it, for no gain in time.
 */
export function heapArguments(megabytes: number): string[] {
  return [`--max-old-space-size=${megabytes}`, `--max-semi-space-size=${YOUNG_MEGABYTES}`]
}

const YOUNG_MEGABYTES = 4

/**
 * Makes the collector run before the heap has grown by a sixth, not by several times. Indexing makes much short-lived text, and a
 * worker shares its machine with the service: some more time buys a third of the memory.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=15')
}
