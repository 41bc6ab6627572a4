import { createFairGate, type FairGate } from '#core/concurrency/fair-gate.ts'

/** Bounds the git processes that answer requests, in all and for each repository. The key of both gates is the identity of the repository. */
export interface GitPlaces {
  /** For refs: a few milliseconds each. */
  lookUp: FairGate
  /** For hashes, which may take a walk of a whole history, for seconds: it holds no place of a ref. */
  walk: FairGate
}

const LOOKUPS = { limit: 8, limitEach: 3, maxWaitingEach: 256, maxWaiting: 1_024 }
const WALKS = { limit: 4, limitEach: 1, maxWaitingEach: 32, maxWaiting: 128 }

/** Tasks throw GateFull when too many wait. */
export function createGitPlaces(): GitPlaces {
  return { lookUp: createFairGate(LOOKUPS), walk: createFairGate(WALKS) }
}
