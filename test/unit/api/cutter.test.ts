import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { type CutTask, createCutter } from '#api/pictures/cutter.ts'
import { PATIENT_TASK } from '#test/support/patient.ts'
import { plainPicture } from '#test/support/pictures.ts'

const cutter = createCutter(PATIENT_TASK)
afterAll(() => cutter.close())

const ICON: Omit<CutTask, 'bytes'> = { width: 128, height: 128, fit: 'fill', type: 'same' }
const PICTURE: Omit<CutTask, 'bytes'> = { width: 640, height: 1_280, fit: 'inside', type: 'same' }

async function cut(task: CutTask) {
  const outcome = await cutter.cut(task)
  if (outcome.status !== 'done') throw new Error(outcome.status)
  const { format, width, height } = await sharp(outcome.result.bytes).metadata()
  expect(outcome.result).toMatchObject({ type: `image/${format}`, width, height })
  return { format, width, height }
}

test.each(['png', 'jpeg', 'gif', 'webp'] as const)(
  'a %s keeps its type, fills an icon, and fits into the width of a page',
  async format => {
    const bytes = await plainPicture(format, 900, 300)
    expect(await cut({ bytes, ...ICON })).toEqual({ format, width: 128, height: 128 })
    expect(await cut({ bytes, ...ICON, type: 'png' })).toEqual({ format: 'png', width: 128, height: 128 })
    expect(await cut({ bytes, ...PICTURE })).toEqual({ format, width: 640, height: 213 })
    const small = await plainPicture(format, 20, 10)
    expect(await cut({ bytes: small, ...PICTURE })).toEqual({ format, width: 20, height: 10 })
  },
)

test('metadata of a camera is removed, and the picture is turned by its orientation', async () => {
  const photo = await sharp(await plainPicture('jpeg', 40, 20))
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  const outcome = await cutter.cut({ bytes: photo, ...PICTURE })
  if (outcome.status !== 'done') throw new Error(outcome.status)
  const { width, height, orientation, exif } = await sharp(outcome.result.bytes).metadata()
  expect({ width, height, orientation, exif }).toEqual({ width: 20, height: 40, orientation: undefined, exif: undefined })
})
