import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import type { CardModel } from '#api/pictures/card.ts'
import { createDrawer } from '#api/pictures/cards.ts'
import { GOLDEN_CARDS } from '#test/support/golden-cards.ts'
import { PATIENT_TASK } from '#test/support/patient.ts'
import { plainPicture } from '#test/support/pictures.ts'

const FOLDER = join(import.meta.dirname, '../fixtures/golden/cards')

const drawer = createDrawer(PATIENT_TASK)
afterAll(() => drawer.close())

async function draw(name: string, picture: Uint8Array | null): Promise<Buffer> {
  const card = GOLDEN_CARDS[name]
  const drawn = card && (await drawer.draw({ card, picture }))
  if (drawn?.status !== 'done') throw new Error(`${name}: ${drawn?.status}`)
  return Buffer.from(drawn.result)
}

/** `MOUNTGLASS_TEST_GOLDEN=write` writes them anew. Look at each before it is committed. */
test.each(Object.keys(GOLDEN_CARDS))('the card %s is the golden one, byte for byte', async name => {
  const picture = name === 'verified' ? await plainPicture('png', 128, 128, '#2f6a3f') : null
  const png = await draw(name, picture)
  const path = join(FOLDER, `${name}.png`)
  if (process.env.MOUNTGLASS_TEST_GOLDEN === 'write') await writeFile(path, png)
  expect(png.equals(await readFile(path))).toBe(true)
  expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 1200, height: 630 })
})

test('every golden file has its card', async () => {
  expect((await readdir(FOLDER)).sort()).toEqual(
    Object.keys(GOLDEN_CARDS)
      .map(name => `${name}.png`)
      .sort(),
  )
})

test('a card is the same in a new process and after other cards were drawn', async () => {
  for (const name of ['chinese', 'korean', 'japanese', 'mixed', 'hangul', 'latin', 'hangul'])
    expect((await draw(name, null)).equals(await readFile(join(FOLDER, `${name}.png`))), name).toBe(true)
  const fresh = createDrawer(PATIENT_TASK)
  const drawn = await fresh.draw({ card: GOLDEN_CARDS.hangul as CardModel, picture: null })
  await fresh.close()
  expect(drawn.status === 'done' && Buffer.from(drawn.result).equals(await readFile(join(FOLDER, 'hangul.png')))).toBe(true)
})
