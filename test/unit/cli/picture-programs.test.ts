import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isInWorkTree } from '#cli/in-work-tree.ts'
import { findPackage, findPicturePrograms, picturesOf } from '#cli/picture-programs.ts'
import { folderOf } from '#test/support/operator-folder.ts'

test('a package in the version of the program gives the programs', () => {
  const warnings: string[] = []
  const found = picturesOf({ folder: '/x/mountglass-pictures', version: '1.2.3' }, '1.2.3', reason => warnings.push(reason))
  const program = '/x/mountglass-pictures/dist/server/drawer-main.mjs'
  expect([fileURLToPath(found?.drawer?.program ?? ''), warnings]).toEqual([program, []])
})

test('a package in another version is one warning and no programs', () => {
  const warnings: string[] = []
  expect(picturesOf({ folder: '/x', version: '1.2.4' }, '1.2.3', reason => warnings.push(reason))).toBeNull()
  expect(warnings).toEqual([expect.stringMatching(/1\.2\.4.*mountglass-pictures@1\.2\.3$/)])
})

test.each([
  ['is found with its version', '{"version":"1.2.3"}', '1.2.3'],
  ['is none where its description is no JSON', '{', undefined],
  ['is none where it is not installed', null, undefined],
])('a package %s', async (_title, description, version) => {
  const folder = await folderOf(description === null ? {} : { 'node_modules/mountglass-pictures/package.json': description })
  expect(findPackage(join(folder, 'package.json'))?.version).toBe(version)
})

test('a folder is in a work tree where it or a folder above has a .git, a file or a folder', async () => {
  const [outside, file] = [await folderOf({ 'a/b': '' }), await folderOf({ '.git': 'gitdir: /x\n', 'a/b': '' })]
  expect([isInWorkTree(join(outside, 'a')), isInWorkTree(join(file, 'a'))]).toEqual([false, true])
  await mkdir(join(outside, '.git'))
  expect(isInWorkTree(join(outside, 'a'))).toBe(true)
})

test('a checkout has its own programs', () => {
  expect(findPicturePrograms(() => {})).toMatchObject({
    drawer: { program: expect.any(URL) },
    cutter: { program: expect.any(URL) },
  })
})
