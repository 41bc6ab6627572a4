import { crc32, deflateSync, gzipSync } from 'node:zlib'
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
  const [png, jpeg, gif, webp] = (await Promise.all(
    (['png', 'jpeg', 'gif', 'webp'] as const).map(format => plainPicture(format, 40, 30)),
  )) as [Buffer, Buffer, Buffer, Buffer]
  const html = Buffer.from('<!doctype html><script>alert(1)</script>')
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  return {
    nothing: Buffer.alloc(0),
    'HTML named as a PNG': html,
    'HTML behind the signature of a PNG': Buffer.concat([png.subarray(0, 8), html]),
    'HTML in a chunk of a PNG': withPngChunk(png, 'tEXt', Buffer.concat([Buffer.from('Comment\0'), html])),
    'HTML behind the end of a PNG': Buffer.concat([png, html]),
    'HTML in a comment of a JPEG': withJpegComment(jpeg, html),
    'an SVG named as a PNG': svg,
    'an SVG in UTF-16 named as a PNG': Buffer.from(`\ufeff${svg.toString()}`, 'utf16le'),
    'a compressed SVG named as a PNG': gzipSync(svg),
    'an SVG behind the end of a WebP': Buffer.concat([webp, svg]),
    'a PNG with a byte behind its end': Buffer.concat([png, Buffer.alloc(1)]),
    'two PNGs in one file': Buffer.concat([png, png]),
    'a JPEG that is a ZIP archive, too': Buffer.concat([jpeg, EMPTY_ARCHIVE]),
    'a PNG that is a ZIP archive, too': withPngChunk(png, 'teXt', EMPTY_ARCHIVE),
    'a PNG that is a PDF document, too': withPngChunk(png, 'teXt', Buffer.from('%PDF-1.7\n')),
    'a GIF that is a script, too': Buffer.from('GIF89a/*\0\0\0*/=1;alert(1)//;'),
    'a GIF with a script behind its end': Buffer.concat([gif, Buffer.from('/*alert(1)')]),
    'a truncated PNG': png.subarray(0, -20),
    'a truncated JPEG': jpeg.subarray(0, -2),
    'a truncated GIF': gif.subarray(0, -1),
    'a truncated WebP': webp.subarray(0, -2),
    'a PNG whose pixels are damaged': damaged(png),
    'a PNG of 16,000 by 16,000 pixels': pixelBomb(16_000),
    'a GIF that claims 65,535 by 65,535 pixels': claiming(gif, 6, Buffer.from('ffffffff', 'hex')),
    'a PNG that claims 2,147,483,647 by 1 pixels': claiming(png, 16, Buffer.from('7fffffff00000001', 'hex')),
    'an AVIF picture': Buffer.from('\0\0\0\x18ftypavif\0\0\0\0avifmif1', 'latin1'),
    'a BMP picture': Buffer.concat([Buffer.from('BM', 'latin1'), Buffer.alloc(60)]),
    'a TIFF picture': Buffer.from('II*\0\x08\0\0\0\0\0', 'latin1'),
  }
}

function withJpegComment(jpeg: Buffer, comment: Buffer): Buffer {
  const head = Buffer.from([0xff, 0xfe, 0, 2 + comment.length])
  return Buffer.concat([jpeg.subarray(0, 2), head, comment, jpeg.subarray(2)])
}

/** The picture with other numbers at the place of its size. */
function claiming(picture: Buffer, at: number, size: Buffer): Buffer {
  const copy = Buffer.from(picture)
  size.copy(copy, at)
  return copy
}

function damaged(png: Buffer): Buffer {
  const copy = Buffer.from(png)
  copy.fill(0xff, copy.indexOf('IDAT') + 6, copy.indexOf('IEND') - 8)
  return copy
}
