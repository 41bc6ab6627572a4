import { createHmac, timingSafeEqual } from 'node:crypto'
import type { z } from 'zod'
import { ServiceError } from '#core/errors.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { RULES_VERSION } from '#core/snapshot/versions.ts'
import type { PurposeKeys } from '../purpose-keys.ts'

/** What a cursor is good for, and nothing else. The reading-rule version is added to it. */
export interface CursorBinding {
  /** Name of the endpoint: `browse`, `find`, `skills`. */
  route: string
  repositoryId: string
  commit: string
  /** Every parameter of the request that shapes its listing: mounted path, `path`, `query`. Never `limit`. */
  parameters: Readonly<Record<string, string>>
}

const MAC_BYTES = 16

/** Seals a position: 16 bytes of HMAC-SHA256, then the JSON of the position, in base64url. */
export function sealCursor(keys: PurposeKeys, binding: CursorBinding, position: z.core.util.JSONType): string {
  const payload = Buffer.from(JSON.stringify(position))
  return Buffer.concat([mac(keys[0], binding, payload), payload]).toString('base64url')
}

/**
 * The position of a cursor that was sealed for the same binding.
 *
 * @throws ServiceError `request.invalid` for anything else: edited, of another snapshot, request or reading-rule version, or of an unknown key
 */
export function readCursor<Schema extends z.ZodType>(
  keys: PurposeKeys,
  binding: CursorBinding,
  cursor: string,
  schema: Schema,
): z.infer<Schema> {
  const bytes = Buffer.from(cursor, 'base64url')
  const sealed = bytes.subarray(0, MAC_BYTES)
  const payload = bytes.subarray(MAC_BYTES)
  // Base64 has several spellings of the same bytes; only the one that was handed out is a cursor.
  const genuine =
    bytes.toString('base64url') === cursor && keys.filter(key => isSame(mac(key, binding, payload), sealed)).length > 0
  if (!genuine)
    throw new ServiceError('request.invalid', { message: 'the cursor is not for this request; restart from the first page' })
  const position = schema.safeParse(JSON.parse(payload.toString()))
  if (!position.success) throw new ServiceError('request.invalid', { cause: position.error })
  return position.data
}

function mac(key: Uint8Array, binding: CursorBinding, payload: Uint8Array): Buffer {
  const { route, repositoryId, commit, parameters } = binding
  const hmac = createHmac('sha256', key)
  hmac.update(canonicalJson({ route, repositoryId, commit, parameters, rules: RULES_VERSION }))
  // JSON never holds a NUL, so binding and payload cannot run into each other.
  hmac.update('\0')
  hmac.update(payload)
  return hmac.digest().subarray(0, MAC_BYTES)
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
