import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findPicturePrograms, picturesFrom } from '#cli/picture-programs.ts'
import { folderOf } from '#test/support/operator-folder.ts'

/** A module in a folder with the package in this version. */
async function placeWith(version: string): Promise<string> {
  return join(await folderOf({ 'node_modules/mountglass-pictures/package.json': JSON.stringify({ version }) }), 'package.json')
}

test('the first place with the package, in the version of the program, gives the programs', async () => {
  const [empty, first, second] = [join(await folderOf({}), 'package.json'), await placeWith('1.2.3'), await placeWith('1.2.3')]
  const warnings: string[] = []
  const found = picturesFrom([empty, first, second], '1.2.3', reason => warnings.push(reason))
  const program = join(first, '../node_modules/mountglass-pictures/dist/server/drawer-main.mjs')
  expect([fileURLToPath(found?.drawer?.program ?? ''), warnings]).toEqual([program, []])
})

test('a package in another version is one warning and no programs, and no package no programs', async () => {
  const [other, right] = [await placeWith('1.2.4'), await placeWith('1.2.3')]
  const warnings: string[] = []
  const find = (places: string[]) => picturesFrom(places, '1.2.3', reason => warnings.push(reason))
  expect(find([other, right])).toBeNull()
  expect(warnings).toEqual([expect.stringMatching(/1\.2\.4.*mountglass-pictures@1\.2\.3$/)])
  expect([find([join(await folderOf({}), 'package.json')]), warnings.length]).toEqual([null, 1])
})

test('a checkout has its own programs', () => {
  expect(findPicturePrograms(() => {})).toMatchObject({
    drawer: { program: expect.any(URL) },
    cutter: { program: expect.any(URL) },
  })
})
