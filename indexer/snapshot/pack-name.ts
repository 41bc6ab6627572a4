import { createHash } from 'node:crypto'

/** The name of a pack: a hash of its bytes. */
export function packNameOf(pack: Uint8Array): string {
  return createHash('sha256').update(pack).digest('hex').slice(0, 40)
}
