/** Media type and file extension of a picture. */
export interface PictureType {
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  extension: 'png' | 'jpg' | 'gif' | 'webp'
}

/** The type by the first bytes, whatever the file name says; `null` when it is not a picture that is served. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | null {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return { type: 'image/png', extension: 'png' }
  if (head.startsWith('\xff\xd8\xff')) return { type: 'image/jpeg', extension: 'jpg' }
  if (/^GIF8[79]a/.test(head)) return { type: 'image/gif', extension: 'gif' }
  if (/^RIFF.{4}WEBP/s.test(head)) return { type: 'image/webp', extension: 'webp' }
  return null
}
