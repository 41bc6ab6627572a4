import { decodeText, isLfsPointer } from '#core/text.ts'

/** What the bytes of a file are. `in_lfs`: a pointer to a text that Git LFS keeps elsewhere. */
export type FileText = { kind: 'text'; text: string } | { kind: 'not_text' } | { kind: 'in_lfs' }

/** What was found of a blob. `unreadable`: the repository lacks it. `unread`: it was not read. */
export type BlobState = FileText['kind'] | 'unreadable' | 'unread'

export function readFileText(bytes: Uint8Array): FileText {
  const text = decodeText(bytes)
  if (text === null) return { kind: 'not_text' }
  return isLfsPointer(text) ? { kind: 'in_lfs' } : { kind: 'text', text }
}
