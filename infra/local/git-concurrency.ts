import { createFairGate, type FairGate } from '#core/concurrency/fair-gate.ts'

/** Bounds the git processes that answer requests, in all and for each repository. The key of both gates is the identity of the repository. */
export interface GitConcurrency {
  /** For refs: a few milliseconds each. */
  lookUp: FairGate
  /** For hashes, which may take a walk of a whole history, for seconds: it holds no slot of a ref. */
  walk: FairGate
  /** For the commits of paths, which answers do without: up to 5 seconds of a processor each, so they hold no slot of a hash. */
  history: FairGate
}

const LOOKUPS = { limit: 8, limitEach: 3, maxWaitingEach: 256, maxWaiting: 1_024 }
const WALKS = { limit: 4, limitEach: 1, maxWaitingEach: 32, maxWaiting: 128 }
const HISTORIES = { limit: 2, limitEach: 1, maxWaitingEach: 16, maxWaiting: 64 }

/** Tasks throw GateFull when too many wait. */
export function createGitConcurrency(): GitConcurrency {
  return { lookUp: createFairGate(LOOKUPS), walk: createFairGate(WALKS), history: createFairGate(HISTORIES) }
}
