import { READABLE_FILE_BYTES } from '#core/limits.ts'
import { decodeText, isLfsPointer } from '#core/text.ts'

/** What the bytes of a file are. `in_lfs`: a pointer to a text that Git LFS keeps elsewhere. `too_large`: more than a reader is given. */
export type FileText = { kind: 'text'; text: string } | { kind: 'not_text' } | { kind: 'in_lfs' } | { kind: 'too_large' }

/** What was found of a blob. `unreadable`: the repository lacks it. `unread`: it was not read. */
export type BlobState = FileText['kind'] | 'unreadable' | 'unread'

export function readFileText(bytes: Uint8Array): FileText {
  if (bytes.length > READABLE_FILE_BYTES) return { kind: 'too_large' }
  const text = decodeText(bytes)
  if (text === null) return { kind: 'not_text' }
  return isLfsPointer(text) ? { kind: 'in_lfs' } : { kind: 'text', text }
}
