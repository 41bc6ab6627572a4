import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ACTION_FOLDER } from '#test/support/action.ts'
import { bundleAction } from '../../../../scripts/build-action.mjs'

test('the committed bundle equals a build of the sources', async () => {
  const dist = join(ACTION_FOLDER, 'dist')
  const made = await bundleAction()
  expect((await readdir(dist)).sort()).toEqual([...made.keys()].sort())
  for (const [name, bytes] of made) {
    const isSame = Buffer.compare(await readFile(join(dist, name)), bytes) === 0
    expect(isSame, `cli/action/dist/${name}: run npm run build:action and commit what it writes`).toBe(true)
  }
})
