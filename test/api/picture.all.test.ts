import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readOperatorFolder } from '#api/operator/read-folder.ts'
import { plainPicture } from '#test/support/pictures.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture, shownPicture } from './support/pictures.ts'

const OPEN = { 'a/SKILL.md': '---\nname: a\ndescription: A.\nlicense: MIT\n---\nDo it.\n', LICENSE: MIT() }
const manifest = (image: string, more = '') => `---\nname: N\ndescription: D.\nimage: ${image}\n${more}---\n`

/** A license that permits copies. */
function MIT(): string {
  return 'MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:\n\nThe above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.\n\nTHE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.\n'
}

const WIDE = await plainPicture('jpeg', 1_600, 800)

let at: TestApp
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-operator-'))
  await writeFile(join(folder, 'featured.yaml'), '- address: /local/acme/operator\n  image: cover.png\n')
  await writeFile(join(folder, 'cover.png'), await plainPicture('png', 900, 300))
  at = await testApp(
    {
      'acme/own': {
        ...OPEN,
        'SKILLSET.md': manifest('art/wide.jpg'),
        'art/wide.jpg': WIDE,
        'b/SKILLSET.md': manifest('small.png'),
        'b/small.png': await plainPicture('png', 20, 10),
      },
      'acme/operator': { ...OPEN, 'SKILLSET.md': manifest('art/wide.jpg'), 'art/wide.jpg': WIDE },
      'acme/unlicensed': { 'SKILLSET.md': manifest('wide.jpg'), 'wide.jpg': WIDE },
      'acme/excluded': { ...OPEN, 'SKILLSET.md': manifest('wide.jpg', 'exclude: [wide.jpg]\n'), 'wide.jpg': WIDE },
      'acme/bare': OPEN,
    },
    { github: { withToken: true }, operator: await readOperatorFolder(folder, BASE_URL) },
  )
})
afterAll(async () => {
  await at.close()
  await rm(folder, { recursive: true, force: true })
})

describe('the picture of an address', () => {
  test('is the file that the nearest manifest names, at most 640 pixels wide', async () => {
    await expectNoPicture(at, '/picture/local/acme/own')
    await at.index()
    const { bytes } = await shownPicture(at, '/picture/local/acme/own')
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 640, height: 320 })
    const below = await shownPicture(at, '/picture/local/acme/own@main/b')
    expect(await sharp(below.bytes).metadata()).toMatchObject({ width: 20, height: 10 })
  })

  test("is the operator's before that, also while nothing is indexed", async () => {
    const { bytes } = await shownPicture(at, '/picture/local/acme/operator')
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 640, height: 213 })
  })

  test('is fetched from a remote host through git', async () => {
    await at.open('/gh/acme/own')
    await shownPicture(at, '/picture/gh/acme/own')
  })

  test('is missing if none is declared, no license permits a copy, or it is excluded', async () => {
    for (const name of ['bare', 'unlicensed', 'excluded']) {
      await at.open(`/local/acme/${name}`)
      await expectNoPicture(at, `/picture/local/acme/${name}`)
    }
    await at.open('/gh/acme/unlicensed')
    await expectNoPicture(at, '/picture/gh/acme/unlicensed')
  })
})

describe('the picture of an account', () => {
  test('is its icon, without credentials', async () => {
    const { bytes } = await shownPicture(at, '/picture/owners/gh/acme')
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 128, height: 128 })
    expect((await shownPicture(at, '/icon/gh/acme/own')).bytes.equals(bytes)).toBe(true)
  })
})
