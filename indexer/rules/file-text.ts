import { decodeText } from '#core/text.ts'

/** The text of a file that agents can read; `null` when it is not UTF-8 text, or only the pointer to bytes kept elsewhere (Git LFS). */
export function readableText(bytes: Uint8Array): string | null {
  const text = decodeText(bytes)
  return text === null || isLfsPointer(text) ? null : text
}

export function isLfsPointer(text: string): boolean {
  return text.length <= 200 && text.startsWith('version https://git-lfs.github.com/spec/')
}
