import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

type Format = 'png' | 'jpeg' | 'gif' | 'webp'

/** A picture of one colour. */
export async function plainPicture(format: Format, width: number, height: number, background = '#a8231b'): Promise<Buffer> {
  return await sharp({ create: { width, height, channels: 3, background } })
    .toFormat(format)
    .toBuffer()
}

/** One of each format, of 4 by 3 pixels. */
export async function smallPictures(): Promise<Record<'PNG' | 'GIF' | 'JPEG' | 'WEBP', Buffer>> {
  const formats = ['png', 'gif', 'jpeg', 'webp'] as const
  const [png, gif, jpeg, webp] = await Promise.all(formats.map(format => plainPicture(format, 4, 3)))
  if (!png || !gif || !jpeg || !webp) throw new Error('a format is missing')
  return { PNG: png, GIF: gif, JPEG: jpeg, WEBP: webp }
}

/** A small PNG that claims to have, and has, this many pixels in a square: black ones, of one bit. */
export function pixelBomb(pixels: number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(pixels, 0)
  head.writeUInt32BE(pixels, 4)
  head[8] = 1
  const rows = Buffer.alloc(pixels * (1 + Math.ceil(pixels / 8)))
  return pngOf([
    ['IHDR', head],
    ['IDAT', deflateSync(rows)],
    ['IEND', Buffer.alloc(0)],
  ])
}

/** The picture with another chunk before its pixels. */
export function withPngChunk(png: Buffer, name: string, content: Buffer): Buffer {
  const behindHead = 33
  return Buffer.concat([png.subarray(0, behindHead), chunk(name, content), png.subarray(behindHead)])
}

function pngOf(chunks: [name: string, content: Buffer][]): Buffer {
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks.map(([name, content]) => chunk(name, content))])
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** The end of a ZIP archive without files. */
export const EMPTY_ARCHIVE = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)])

/** Bytes that are no picture to be shown, by what is wrong with them. */
export async function hostilePictures(): Promise<Record<string, Buffer>> {
  const png = await plainPicture('png', 40, 30)
  const jpeg = await plainPicture('jpeg', 40, 30)
  const gif = await plainPicture('gif', 40, 30)
  const webp = await plainPicture('webp', 40, 30)
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  return {
    nothing: Buffer.alloc(0),
    'a page': Buffer.from('<!doctype html><script>alert(1)</script>'),
    'an SVG': svg,
    'the signature of a PNG with a page behind it': Buffer.concat([png.subarray(0, 8), Buffer.from('<!doctype html>')]),
    'a PNG with a page in a chunk': withPngChunk(png, 'tEXt', Buffer.from('Comment\0<html><script>alert(1)</script></html>')),
    'a PNG with a page behind its end': Buffer.concat([png, Buffer.from('<html>')]),
    'a PNG with a byte behind its end': Buffer.concat([png, Buffer.alloc(1)]),
    'a JPEG with an archive behind its end': Buffer.concat([jpeg, EMPTY_ARCHIVE]),
    'a GIF with a script behind its end': Buffer.concat([gif, Buffer.from('/*alert(1)')]),
    'a WebP with an SVG behind its end': Buffer.concat([webp, svg]),
    'a PNG with an archive in a chunk': withPngChunk(png, 'teXt', EMPTY_ARCHIVE),
    'a truncated PNG': png.subarray(0, -20),
    'a truncated JPEG': jpeg.subarray(0, -2),
    'a truncated GIF': gif.subarray(0, -1),
    'a truncated WebP': webp.subarray(0, -2),
    'a PNG whose pixels are damaged': damaged(png),
    'more pixels than are decoded': pixelBomb(16_000),
  }
}

function damaged(png: Buffer): Buffer {
  const copy = Buffer.from(png)
  copy.fill(0xff, copy.indexOf('IDAT') + 6, copy.indexOf('IEND') - 8)
  return copy
}
