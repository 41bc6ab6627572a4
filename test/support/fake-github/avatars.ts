import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { FakeAnswer, FakeRequest } from './http.ts'
import type { Origins } from './kinds.ts'
import type { World } from './world.ts'

const DEFAULT_PIXELS = 460
const HUGE_BYTES = 8 * 1024 * 1024

/** `avatars.githubusercontent.com/u/<id>?s=<pixels>`: a plain square in the account's colour, or what its `avatar` says. */
export function answerAvatar(world: World, origins: Origins, request: FakeRequest): FakeAnswer {
  const id = Number(/^\/u\/(\d+)$/.exec(request.path)?.[1] ?? Number.NaN)
  const account = [...world.accounts].find(one => one.id === id)
  if (!account || account.avatar === 'missing') return { status: 404, headers: { 'content-type': 'text/html' }, body: '' }
  const asked = Number(request.query.get('s') ?? DEFAULT_PIXELS)
  const pixels = Number.isInteger(asked) && asked > 0 ? Math.min(asked, DEFAULT_PIXELS) : DEFAULT_PIXELS
  const answer = (type: string, body: string | Uint8Array): FakeAnswer => ({
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'max-age=300', 'x-content-type-options': 'nosniff' },
    body,
  })
  switch (account.avatar) {
    case 'png':
      return answer('image/png', plainPng(pixels, colourOf(account.login)))
    case 'svg':
      return answer('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    case 'html':
      return answer('image/png', '<!doctype html><script>alert(1)</script>')
    case 'huge':
      return answer('image/png', Buffer.concat([plainPng(pixels, [0, 0, 0]), Buffer.alloc(HUGE_BYTES)]))
    case 'redirect':
      return { status: 302, headers: { location: `${origins.web}/`, 'content-type': 'text/html' }, body: '' }
  }
}

type Colour = readonly [red: number, green: number, blue: number]

function colourOf(login: string): Colour {
  const [red = 0, green = 0, blue = 0] = createHash('sha1').update(login.toLowerCase()).digest()
  return [red, green, blue]
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function plainPng(pixels: number, colour: Colour): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(pixels, 0)
  head.writeUInt32BE(pixels, 4)
  head.set([8, 2], 8) // eight bits each of red, green and blue
  const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(pixels * 3, Buffer.from(colour))])
  const image = deflateSync(Buffer.concat(Array.from({ length: pixels }, () => row)))
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', image), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
