import { describe, expect, test } from 'vitest'
import { readPictureFormat } from '#api/operator/picture-format.ts'
import { hostilePictures, pixelBomb, plainPicture } from '#test/support/pictures.ts'

test.each(['png', 'jpeg', 'gif', 'webp'] as const)('the size of a %s is read from its frame', async format => {
  for (const [width, height] of [
    [1, 1],
    [301, 207],
    [640, 3],
  ] as const)
    expect(readPictureFormat(await plainPicture(format, width, height))).toMatchObject({ type: `image/${format}`, width, height })
})

// These are frames without a fault: their pixels tell.
const TOLD_BY_PIXELS = ['a PNG whose pixels are damaged', 'more pixels than are decoded']

describe('refused with a reason is', async () => {
  const hostile = Object.entries(await hostilePictures()).filter(([name]) => !TOLD_BY_PIXELS.includes(name))
  test.each(hostile)('%s', (_name, bytes) => {
    expect(readPictureFormat(bytes)).toEqual({ problem: expect.stringMatching(/^(?:is|has) /) })
  })

  test('every beginning of a picture', async () => {
    for (const format of ['png', 'jpeg', 'gif', 'webp'] as const) {
      const bytes = await plainPicture(format, 20, 20)
      for (let length = 0; length < bytes.length; length++)
        expect(readPictureFormat(bytes.subarray(0, length)), `${format} ${length}`).toHaveProperty('problem')
    }
  })
})

test('a bomb is known by its frame, without its pixels', () => {
  expect(readPictureFormat(pixelBomb(16_000))).toMatchObject({ width: 16_000, height: 16_000 })
})
