import { LRUCache } from 'lru-cache'
import type { TipSet } from './history.ts'

/** Estimated memory of one hash. */
const HASH_BYTES = 120
const ENTRY_BYTES = 300
const ALL_BYTES = 4 * 1024 * 1024
/** Hashes of one repository. The oldest is evicted first, so that a repository that is asked for many evicts only its own. */
const HASHES_EACH = 2_000

interface Refuted {
  /** Fingerprint of the tips that lead to none of the hashes. */
  fingerprint: TipSet['fingerprint']
  hashes: Set<string>
}

/** Hashes to which no branch or tag of their repository leads, by repository id. Valid until a tip changes. Bounded by bytes. */
export class RefutedCommits {
  readonly #byRepository = new LRUCache<string, Refuted>({
    maxSize: ALL_BYTES,
    sizeCalculation: ({ hashes }) => ENTRY_BYTES + hashes.size * HASH_BYTES,
  })

  /** The fingerprint of the tips that did not lead to the hash; `null` when it is not known. */
  fingerprintOf(id: string, hash: string): TipSet['fingerprint'] | null {
    const known = this.#byRepository.get(id)
    return known?.hashes.has(hash) ? known.fingerprint : null
  }

  add(id: string, hash: string, fingerprint: TipSet['fingerprint']): void {
    const known = this.#byRepository.get(id)
    const hashes = known?.fingerprint === fingerprint ? known.hashes : new Set<string>()
    hashes.add(hash)
    for (const oldest of hashes) {
      if (hashes.size <= HASHES_EACH) break
      hashes.delete(oldest)
    }
    this.#byRepository.set(id, { fingerprint, hashes })
  }
}
