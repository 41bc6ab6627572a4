import { createHmac, timingSafeEqual } from 'node:crypto'
import type { z } from 'zod'
import { ServiceError } from '#core/errors.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { RULES_VERSION } from '#core/snapshot/versions.ts'
import type { PurposeKeys } from '../purpose-keys.ts'

/** What a cursor is bound to. The version of the reading rules is added. */
export interface CursorBinding {
  /** Name of the endpoint: `browse`, `find`, `skills`. */
  route: string
  repositoryId: string
  commit: string
  /** The request parameters that shape the listing: mounted path, `path`, `query`. Never `limit`. */
  parameters: Readonly<Record<string, string>>
}

const MAC_BYTES = 16

/** Seals a position: 16 bytes of HMAC-SHA256, then the JSON of the position, in base64url. */
export function sealCursor(keys: PurposeKeys, binding: CursorBinding, position: z.core.util.JSONType): string {
  const payload = Buffer.from(JSON.stringify(position))
  return Buffer.concat([mac(keys[0], binding, payload), payload]).toString('base64url')
}

/**
 * Checks what can be known of a cursor without its binding, so that a malformed one is refused before the index is ready.
 *
 * @throws ServiceError `request.invalid`
 */
export function requireCursorForm(cursor: string | undefined, schema: z.ZodType): void {
  if (cursor !== undefined) readPosition(cursor, schema)
}

/**
 * Opens a cursor that was sealed for the same binding, and returns its position.
 *
 * @throws ServiceError `request.invalid` when it was edited, or sealed for another snapshot, request or rules version, or with an unknown key
 */
export function readCursor<Schema extends z.ZodType>(
  keys: PurposeKeys,
  binding: CursorBinding,
  cursor: string,
  schema: Schema,
): z.infer<Schema> {
  const { sealed, payload, position } = readPosition(cursor, schema)
  if (keys.filter(key => isSame(mac(key, binding, payload), sealed)).length > 0) return position
  throw new ServiceError('request.invalid', {
    message: 'parameter cursor does not belong to this request, or the repository changed; restart from the first page',
  })
}

function readPosition<Schema extends z.ZodType>(cursor: string, schema: Schema) {
  const bytes = Buffer.from(cursor, 'base64url')
  const sealed = bytes.subarray(0, MAC_BYTES)
  const payload = bytes.subarray(MAC_BYTES)
  const position = schema.safeParse(parseJson(payload.toString()))
  // Base64url has several spellings of the same bytes; only the canonical one is accepted.
  if (bytes.toString('base64url') === cursor && position.success) return { sealed, payload, position: position.data }
  throw new ServiceError('request.invalid', { message: 'parameter cursor is not a cursor; restart from the first page' })
}

/** `undefined` when the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function mac(key: Uint8Array, binding: CursorBinding, payload: Uint8Array): Buffer {
  const { route, repositoryId, commit, parameters } = binding
  const hmac = createHmac('sha256', key)
  hmac.update(canonicalJson({ route, repositoryId, commit, parameters, rules: RULES_VERSION }))
  // JSON contains no NUL, so the separator is unambiguous.
  hmac.update('\0')
  hmac.update(payload)
  return hmac.digest().subarray(0, MAC_BYTES)
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
