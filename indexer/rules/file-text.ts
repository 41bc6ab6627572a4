import { decodeText } from '#core/text.ts'

/** The text of a file; `null` when it is not UTF-8 text or a Git LFS pointer. */
export function readableText(bytes: Uint8Array): string | null {
  const text = decodeText(bytes)
  return text === null || isLfsPointer(text) ? null : text
}

export function isLfsPointer(text: string): boolean {
  return text.length <= 200 && text.startsWith('version https://git-lfs.github.com/spec/')
}
