import { z } from 'zod'
import type { JsonValue, StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { requireKey } from '#core/ports/store-arguments.ts'
import type { Bucket, Condition, EtagForm } from './bucket.ts'
import { putConditionally } from './conditional-put.ts'
import { listKeys } from './list-keys.ts'
import { newNonce } from './nonce.ts'

/**
 * A document as it is stored: the nonces are those of the write that made this version, and of those before it, the last one first.
 * A writer whose answer was lost finds itself among them, also when others have written over its version since.
 */
const StoredDocument = z.object({ nonces: z.array(z.string()).min(1), value: z.custom<JsonValue>(value => value !== undefined) })
type StoredDocument = z.infer<typeof StoredDocument>

/** Versions that others may write over one before its writer asks what became of it. */
const KEPT_NONCES = 16

/** What the etag of the port says: the version, and who wrote it and those before. */
interface Version {
  etag: string
  nonces: readonly string[]
}

/**
 * Documents as objects of a bucket, whose server writes under conditions. Closing the store closes the bucket.
 * What the server does not do within three attempts throws StoreError.
 */
export function createS3StateStore(bucket: Bucket, form: EtagForm): StateStore {
  async function readStored(key: string): Promise<(Version & { value: JsonValue }) | null> {
    const found = await bucket.get(key)
    return found && { etag: found.etag, ...parseDocument(key, found.bytes) }
  }

  async function write(key: string, value: JsonValue, over: Version | null): Promise<WriteOutcome> {
    const nonce = newNonce()
    const nonces = [nonce, ...(over?.nonces ?? [])].slice(0, KEPT_NONCES)
    const bytes = Buffer.from(JSON.stringify({ nonces, value } satisfies StoredDocument))
    const condition: Condition = over ? { etag: over.etag, form } : 'absent'
    const outcome = await putConditionally({
      over: over?.etag ?? null,
      put: () => bucket.put({ key, bytes, type: 'application/json', condition }),
      async current() {
        const found = await readStored(key)
        if (found === null) return null
        const isOurs = found.nonces.includes(nonce)
        // Whoever goes on from a version that was written over meets a conflict.
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

/** No version has this etag. */
const WRITTEN_OVER = 'written-over'

function formatVersion({ etag, nonces }: Version): string {
  return `${etag} ${nonces.join(',')}`
}

/** `null` for what no version of this store is called. */
function parseVersion(text: string): Version | null {
  const [, etag, nonces] = /^([\x21-\x7e]+) ([\w,-]+)$/.exec(text) ?? []
  return etag === undefined || nonces === undefined ? null : { etag, nonces: nonces.split(',') }
}

function parseDocument(key: string, bytes: Uint8Array): StoredDocument {
  try {
    return StoredDocument.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    throw new Error(`the object ${key} of the bucket is no document of this program`)
  }
}
