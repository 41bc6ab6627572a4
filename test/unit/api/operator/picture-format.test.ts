import { expect, test } from 'vitest'
import { readPictureFormat } from '#api/operator/picture-format.ts'
import { pixelBomb, plainPicture } from '#test/support/pictures.ts'

test.each(['png', 'jpeg', 'gif', 'webp'] as const)('the size of a %s is read from its frame', async format => {
  for (const [width, height] of [
    [1, 1],
    [301, 207],
    [640, 3],
  ] as const)
    expect(readPictureFormat(await plainPicture(format, width, height))).toMatchObject({ type: `image/${format}`, width, height })
})

test('every beginning of a picture is refused with a reason', async () => {
  for (const format of ['png', 'jpeg', 'gif', 'webp'] as const) {
    const bytes = await plainPicture(format, 20, 20)
    for (let length = 0; length < bytes.length; length++)
      expect(readPictureFormat(bytes.subarray(0, length)), `${format} ${length}`).toHaveProperty('problem')
  }
})

test('a bomb is known by its frame, without its pixels', () => {
  expect(readPictureFormat(pixelBomb(4_096))).toMatchObject({ width: 4_096, height: 4_096 })
  expect(readPictureFormat(pixelBomb(4_097))).toEqual({ problem: 'has 16785409 pixels; at most 16777216 are served' })
})
