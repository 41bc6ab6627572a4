import { setFlagsFromString } from 'node:v8'

/**
 * Node arguments of a process that indexes. A small young generation is collected often: with the default of three times 16 MB, short-lived
 * buffers pile up for no gain in time. The whole heap is collected for the first time when it has a size that few jobs reach: each collection
 * would mark the vocabulary of the tokenizer again. Decision 0111.
 */
export function heapArguments(megabytes: number): string[] {
  const uncollected = Math.min(UNCOLLECTED_MEGABYTES, Math.round(megabytes / 4))
  return [`--max-old-space-size=${megabytes}`, `--max-semi-space-size=${YOUNG_MEGABYTES}`, `--initial-heap-size=${uncollected}`]
}

/** The heaps of threads, which hold no vocabulary, are collected as usual. Call it before the first thread. */
export function collectThreadsEarly(): void {
  setFlagsFromString('--initial-heap-size=0')
}

/**
 * Whether the whole heap is collected whenever 64 MB more lie in buffers outside it, as V8 does by itself. The job of a next commit reads as much in
 * packs, and keeps most of it. So its buffers count towards a limit of twice the `UNCOLLECTED_MEGABYTES` instead. Decision 0121.
 */
export function collectForBuffers(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--no-external-memory-accounted-in-global-limit' : '--external-memory-accounted-in-global-limit')
}

const YOUNG_MEGABYTES = 8
const UNCOLLECTED_MEGABYTES = 192

/**
 * Makes the garbage collector run before the heap grows by 15 %, instead of several times over. It saves a third of the memory and costs some
 * time: indexing creates much short-lived text, and a worker may share its machine with the service.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=15')
}
