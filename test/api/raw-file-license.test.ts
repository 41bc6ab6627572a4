import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const LARGE = new Uint8Array(2 * 1024 * 1024).fill(65)

/** Of a repository without a license, with parts that have one, and of a licensed repository with a part that may not be copied. */
const COPIED = [
  ['acme/none', 'open/LICENSE'],
  ['acme/none', 'open/src/main.c'],
  ['acme/none', 'open/.hidden/picture.png'],
  ['acme/none', 'open/film.bin'],
  ['acme/none', 'skills/free/SKILL.md'],
  ['acme/none', 'skills/free/data.bin'],
  ['acme/none', 'skills/free/link'],
  ['acme/mit', 'src/main.c'],
  ['acme/mit', 'film.bin'],
] as const

const NOT_COPIED = [
  ['acme/none', 'README.md'],
  ['acme/none', 'src/main.c'],
  ['acme/none', '.github/picture.png'],
  ['acme/none', 'docs/guide.md'],
  ['acme/none', 'film.bin'],
  ['acme/none', 'skills/plain/SKILL.md'],
  ['acme/none', 'skills/plain/data.bin'],
  ['acme/none', 'skills/free/closed/part.txt'],
  ['acme/none', 'skills/link'],
  ['acme/mit', 'skills/closed/SKILL.md'],
  ['acme/mit', 'skills/closed/large.txt'],
  ['acme/mit', 'vendor/restricted/code.c'],
] as const

const RESTRICTED = 'Copyright 2026 Acme. All rights reserved.\n'

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/none': {
      'README.md': '# Tools\n\nThe first paragraph.\n',
      'src/main.c': 'int main;\n',
      '.github/picture.png': LARGE,
      'docs/guide.md': '# Guide\n',
      'film.bin': LARGE,
      'open/LICENSE': MIT,
      'open/src/main.c': 'int main;\n',
      'open/.hidden/picture.png': 'PNG',
      'open/film.bin': LARGE,
      'skills/link': { link: 'plain/SKILL.md' },
      'skills/plain/SKILL.md': skillText('plain', 'Body.\n'),
      'skills/plain/data.bin': new Uint8Array([0, 1]),
      'skills/free/SKILL.md': skillText('free', 'Body.\n', 'license: MIT\n'),
      'skills/free/data.bin': new Uint8Array([0, 1]),
      'skills/free/link': { link: 'SKILL.md' },
      'skills/free/closed/LICENSE': RESTRICTED,
      'skills/free/closed/part.txt': 'part',
    },
    'acme/mit': {
      LICENSE: MIT,
      'src/main.c': 'int main;\n',
      'film.bin': LARGE,
      'skills/closed/SKILL.md': skillText('closed', 'Body.\n', 'license: Proprietary\n'),
      'skills/closed/large.txt': LARGE,
      'vendor/restricted/LICENSE': RESTRICTED,
      'vendor/restricted/code.c': 'int code;\n',
    },
  })
  for (const name of ['acme/none', 'acme/mit']) await app.open(`/local/${name}`)
})
afterAll(() => app.close())

const statusOf = async (name: string, path: string) =>
  (await app.get(`/git/local/${name}/raw/${app.commitOf(name)}/${path}`)).status

test.each(COPIED)('a file that a license permits to copy is served: %s %s', async (name, path) => {
  expect(await statusOf(name, path)).toBe(200)
})

test.each(NOT_COPIED)('a file that no license permits to copy is missing: %s %s', async (name, path) => {
  expect(await statusOf(name, path)).toBe(404)
})

test('HEAD, a range and a known ETag do not reveal a withheld file', async () => {
  const url = `/git/local/acme/none/raw/${app.commitOf('acme/none')}/film.bin`
  for (const options of [{ method: 'HEAD' as const }, { headers: { range: 'bytes=0-1' } }, { headers: { 'if-none-match': '*' } }])
    expect((await app.get(url, options)).status).toBe(404)
})

/** What the files endpoint says of a file, and the status of the address that it names. */
async function refusalOf(name: string, path: string): Promise<{ message: string; status: number }> {
  const { error } = (await app.get(`/api/v1/files/local/${name}?path=${path}`)).json
  const { pathname } = new URL(error.sourceUrl)
  return { message: error.message, status: (await app.get(pathname)).status }
}

test('the refusal of a file does not send its reader to an original that is withheld', async () => {
  for (const [name, path] of [
    ['acme/none', 'docs/guide.md'],
    ['acme/mit', 'skills/closed/SKILL.md'],
  ] as const) {
    const { message, status } = await refusalOf(name, path)
    expect([status, message]).toEqual([404, expect.stringContaining('this deployment withholds the original')])
    expect(message).not.toContain('sourceUrl')
  }
})

describe('with everything published by the operator', () => {
  beforeAll(() => {
    app.deps.localSource = 'open'
  })
  afterAll(() => {
    app.deps.localSource = 'withheld'
  })

  test.each([...COPIED, ...NOT_COPIED])('%s %s is served', async (name, path) => {
    expect(await statusOf(name, path)).toBe(200)
  })

  test('the refusal of a file names the address of its original', async () => {
    const { message, status } = await refusalOf('acme/none', 'docs/guide.md')
    expect([status, message]).toEqual([200, expect.stringContaining('read it at sourceUrl')])
  })
})
