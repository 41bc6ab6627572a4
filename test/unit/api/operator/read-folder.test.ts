import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readOperatorFolder } from '#api/operator/read-folder.ts'
import { FEATURED_ADDRESSES, OPERATOR_PICTURE_BYTES } from '#core/limits.ts'
import { folderOf } from '#test/support/operator-folder.ts'
import { plainPicture, withPngChunk } from '#test/support/pictures.ts'
import { BASE_URL } from '#test/support/test-app.ts'

const PNG = await plainPicture('png', 8, 8)
const CHUNK_BYTES = 12

describe('a fault of the folder stops the start with one line that names the file and the line', () => {
  const long = Array.from({ length: FEATURED_ADDRESSES + 1 }, (_, number) => `- address: /local/acme/r${number}\n`).join('')
  test.each([
    [
      '- address: /local/acme/a\n- adress: /local/acme/b\n',
      /featured\.yaml:2: adress: is not a known field \(address, image, verified\)$/,
    ],
    ['- address: /local/acme/a\n-\n', /featured\.yaml:2: must have an address$/],
    ['- verified: true\n', /featured\.yaml:1: address: must be an address like \/gh\/acme\/handbook$/],
    ['# cards\n\n- address: 7\n', /featured\.yaml:3: address: must be an address like/],
    [
      '- address: /local/acme\n',
      /featured\.yaml:1: address: the address is incomplete; it needs \/<host>\/<owner>\/<repository>$/,
    ],
    ['- address: /hub/acme/tools\n', /featured\.yaml:1: address: this deployment does not serve the host/],
    ['- address: /local/acme/a\n  verified: yes\n', /featured\.yaml:2: verified: must be true or false$/],
    ['- address: /gh/acme/a\n- address: /gh/ACME/A/\n', /featured\.yaml:2: address: \/gh\/ACME\/A\/ is listed twice$/],
    [
      '- address: /local/acme/a\n  verified: true\n  image: none.png\n',
      /featured\.yaml:3: image: none\.png is not a file in this folder$/,
    ],
    [
      '- address: /local/acme/a\n  image: ../outside.png\n',
      /featured\.yaml:2: image: \.\.\/outside\.png is not a file in this folder$/,
    ],
    ['- address: /local/acme/a\n  image: link.png\n', /featured\.yaml:2: image: link\.png is not a file in this folder$/],
    ['- address: /local/acme/a\n  image: ""\n', /featured\.yaml:2: image: {2}is not a file in this folder$/],
    [
      '- address: /local/acme/a\n  image: page.png\n',
      /featured\.yaml:2: image: page\.png is not a PNG, JPEG, GIF or WebP picture$/,
    ],
    ['- address: /local/acme/a\n  image: large.png\n', /featured\.yaml:2: image: large\.png is larger than \d+ bytes$/],
    ['- address: /local/acme/a\n  image: "a\\nb.png"\n', /featured\.yaml:2: image: a b\.png is not a file in this folder$/],
    ['- address: [\n', /featured\.yaml:\d: [a-z ]+$/],
    ['- address: /local/acme/a\n  address: /local/acme/b\n', /featured\.yaml:2: duplicated mapping key$/],
    ['- &a {address: /local/acme/a}\n- *a\n', /featured\.yaml:2: aliases/],
    ['address: /local/acme/a\n', /featured\.yaml:1: must be a list of addresses$/],
    ['just words\n', /featured\.yaml:1: must be a list of addresses$/],
    [long, /featured\.yaml:\d+: has more than 50 addresses$/],
    [`# ${'x'.repeat(70_000)}\n`, /featured\.yaml: is larger than 65536 bytes$/],
  ])('%j', async (yaml, message) => {
    const parent = await folderOf({
      'operator/featured.yaml': yaml,
      'operator/page.png': '<script>alert(1)</script>',
      'operator/large.png': Buffer.concat([PNG, Buffer.alloc(OPERATOR_PICTURE_BYTES)]),
      'outside.png': PNG,
    })
    await symlink('../outside.png', join(parent, 'operator/link.png'))
    const reading = readOperatorFolder(join(parent, 'operator'), BASE_URL)
    await expect(reading).rejects.toThrow(message)
    await expect(reading).rejects.toThrow(/^MOUNTGLASS_OPERATOR: [^\n]+$/)
  })

  test('text that is not UTF-8', async () => {
    const folder = await folderOf({ 'featured.yaml': Buffer.from([0x2d, 0x20, 0xff]) })
    await expect(readOperatorFolder(folder, BASE_URL)).rejects.toThrow(/featured\.yaml: is not UTF-8 text$/)
  })

  test('no folder', async () => {
    const folder = await folderOf({ file: '' })
    for (const path of [join(folder, 'nothing'), join(folder, 'file')])
      await expect(readOperatorFolder(path, BASE_URL)).rejects.toThrow(`MOUNTGLASS_OPERATOR: ${path} is not a folder`)
  })
})

test('a picture at the bound is taken', async () => {
  const large = withPngChunk(PNG, 'teXt', Buffer.alloc(OPERATOR_PICTURE_BYTES - PNG.length - CHUNK_BYTES))
  const folder = await folderOf({ 'featured.yaml': '- address: /local/acme/a\n  image: large.png\n', 'large.png': large })
  const { media } = await readOperatorFolder(folder, BASE_URL)
  expect([...media.values()].map(({ sizeBytes }) => sizeBytes)).toEqual([OPERATOR_PICTURE_BYTES])
})
