import { createHash } from 'node:crypto'

/** A pack is named by its bytes. */
export function packNameOf(pack: Uint8Array): string {
  return createHash('sha256').update(pack).digest('hex').slice(0, 40)
}
