import { z } from 'zod'
import type { JsonValue, StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { requireKey } from '#core/ports/store-arguments.ts'
import { type Bucket, type Condition, type EtagForm, listKeys } from './bucket.ts'
import { newNonce, putConditionally } from './conditional-put.ts'

/**
 * A stored entry. `nonces` are those of the write of this version and of the writes before it, the latest first.
 * A writer whose answer was lost finds its nonce among them, even if others have replaced its version since.
 */
const StoredEntry = z.object({ nonces: z.array(z.string()).min(1), value: z.custom<JsonValue>(value => value !== undefined) })
type StoredEntry = z.infer<typeof StoredEntry>

/** Versions after which a writer no longer finds its nonce. */
const KEPT_NONCES = 16

/** What an etag of the port encodes: the etag of the object, and the nonces of this version. */
interface Version {
  etag: string
  nonces: readonly string[]
}

/**
 * Entries as objects of a bucket, whose server supports conditional writes. Closing the store closes the bucket.
 * Throws StoreError for a permanent error at once, for a transient one after `ATTEMPTS` attempts.
 */
export function createS3StateStore(bucket: Bucket, form: EtagForm): StateStore {
  async function readStored(key: string): Promise<(Version & { value: JsonValue }) | null> {
    const found = await bucket.get(key)
    return found && { etag: found.etag, ...parseEntry(key, found.bytes) }
  }

  async function write(key: string, value: JsonValue, over: Version | null): Promise<WriteOutcome> {
    const nonce = newNonce()
    const nonces = [nonce, ...(over?.nonces ?? [])].slice(0, KEPT_NONCES)
    const bytes = Buffer.from(JSON.stringify({ nonces, value } satisfies StoredEntry))
    const condition: Condition = over ? { etag: over.etag, form } : 'absent'
    const outcome = await putConditionally({
      over: over?.etag ?? null,
      put: () => bucket.put({ key, bytes, type: 'application/json', condition }),
      async current() {
        const found = await readStored(key)
        if (found === null) return null
        const isOurs = found.nonces.includes(nonce)
        // A replaced version gets an etag that matches none, so its writer's next replace is a conflict.
        return { etag: !isOurs || found.nonces[0] === nonce ? found.etag : WRITTEN_OVER, isOurs }
      },
    })
    return outcome.status === 'written' ? { status: 'written', etag: formatVersion({ etag: outcome.etag, nonces }) } : outcome
  }

  return {
    async read(key) {
      requireKey(key)
      const stored = await readStored(key)
      return stored && { value: stored.value, etag: formatVersion(stored) }
    },

    async create(key, value) {
      requireKey(key)
      return await write(key, value, null)
    },

    async replace(key, value, etag) {
      requireKey(key)
      const version = parseVersion(etag)
      return version === null ? { status: 'conflict' } : await write(key, value, version)
    },

    async remove(key) {
      requireKey(key)
      await bucket.remove(key)
    },

    list: (prefix, options) => listKeys(bucket, prefix, options),

    async close() {
      bucket.close()
    },
  }
}

/** An etag that no version has. */
const WRITTEN_OVER = 'written-over'

function formatVersion({ etag, nonces }: Version): string {
  return `${etag} ${nonces.join(',')}`
}

/** `null` for a text that is not an etag of this store. */
function parseVersion(text: string): Version | null {
  const [, etag, nonces] = /^([\x21-\x7e]+) ([\w,-]+)$/.exec(text) ?? []
  return etag === undefined || nonces === undefined ? null : { etag, nonces: nonces.split(',') }
}

function parseEntry(key: string, bytes: Uint8Array): StoredEntry {
  try {
    return StoredEntry.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    throw new Error(`the object ${key} of the bucket was not written by this program: remove it, or use another prefix`)
  }
}
