import { LRUCache } from 'lru-cache'
import type { TipSet } from './history.ts'

const HASH_BYTES = 20
const ENTRY_BYTES = 500
const ALL_BYTES = 4 * 1024 * 1024
/** Hashes of one repository. The oldest is evicted first, so that a repository that is asked for many evicts only its own. */
const HASHES_EACH = 1_000
const FIRST_HASHES = 8

interface UnreachableHashes {
  /** Fingerprint of the tips that lead to none of the hashes. */
  fingerprint: TipSet['fingerprint']
  hashes: HashRing
}

/** Hashes to which no branch or tag of their repository leads, by repository id. Valid until a tip changes. Bounded by bytes. */
export class UnreachableCommits {
  readonly #byRepository = new LRUCache<string, UnreachableHashes>({
    maxSize: ALL_BYTES,
    sizeCalculation: ({ hashes }) => ENTRY_BYTES + hashes.sizeBytes,
  })

  /** The fingerprint of the tips that did not lead to the hash; `null` when it is not known. */
  fingerprintOf(id: string, hash: string): TipSet['fingerprint'] | null {
    const known = this.#byRepository.get(id)
    return known?.hashes.has(hash) ? known.fingerprint : null
  }

  add(id: string, hash: string, fingerprint: TipSet['fingerprint']): void {
    const known = this.#byRepository.get(id)
    const hashes = known?.fingerprint === fingerprint ? known.hashes : new HashRing()
    hashes.add(hash)
    this.#byRepository.set(id, { fingerprint, hashes })
  }
}

/** A set of hashes, 20 bytes each. A full one replaces its oldest hash. */
class HashRing {
  #bytes = Buffer.alloc(FIRST_HASHES * HASH_BYTES)
  /** All hashes that were added. */
  #added = 0

  get sizeBytes(): number {
    return this.#bytes.length
  }

  has(hash: string): boolean {
    const wanted = Buffer.from(hash, 'hex')
    const used = this.#bytes.subarray(0, this.#added * HASH_BYTES)
    for (let at = used.indexOf(wanted); at >= 0; at = used.indexOf(wanted, at + 1)) if (at % HASH_BYTES === 0) return true
    return false
  }

  add(hash: string): void {
    if (this.has(hash)) return
    const place = (this.#added++ % HASHES_EACH) * HASH_BYTES
    if (place === this.#bytes.length) {
      const grown = Buffer.alloc(Math.min(2 * place, HASHES_EACH * HASH_BYTES))
      this.#bytes.copy(grown)
      this.#bytes = grown
    }
    this.#bytes.write(hash, place, 'hex')
  }
}
