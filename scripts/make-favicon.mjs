/**
 * Writes `site/public/favicon.ico` from `icon.svg` beside it, for programs that ask for the one and cannot draw the other. Run it when the drawing
 * changes: `node scripts/make-favicon.mjs`. The result is committed.
 */
import { readFile, writeFile } from 'node:fs/promises'
import sharp from 'sharp'

const FOLDER = new URL('../site/public/', import.meta.url)
const SIZES = [16, 32, 48]
const HEADER_BYTES = 6
const ENTRY_BYTES = 16

const drawing = await readFile(new URL('icon.svg', FOLDER))
const pictures = await Promise.all(
  SIZES.map(async size => ({
    size,
    picture: await sharp(drawing, { density: 9 * size })
      .resize(size, size)
      .png()
      .toBuffer(),
  })),
)

const header = Buffer.alloc(HEADER_BYTES)
header.writeUInt16LE(1, 2)
header.writeUInt16LE(SIZES.length, 4)
let offset = HEADER_BYTES + ENTRY_BYTES * SIZES.length
const entries = pictures.map(({ size, picture }) => {
  const entry = Buffer.alloc(ENTRY_BYTES)
  entry.writeUInt8(size, 0)
  entry.writeUInt8(size, 1)
  entry.writeUInt16LE(1, 4)
  entry.writeUInt16LE(32, 6)
  entry.writeUInt32LE(picture.length, 8)
  entry.writeUInt32LE(offset, 12)
  offset += picture.length
  return entry
})
await writeFile(new URL('favicon.ico', FOLDER), Buffer.concat([header, ...entries, ...pictures.map(({ picture }) => picture)]))
