import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const ADDRESS = '/local/acme/tools'
const SECRET = 'zanzibarquartz'
const PROPRIETARY = skillText('closed', `The word is ${SECRET}.\n`, 'license: Proprietary\n')
const LATIN = Buffer.from(PROPRIETARY.replace('What', 'Wäs'), 'latin1')

/** A folder whose `SKILL.md` is not read, with files that would be served below the license of the repository. */
function folder(path: string, skill: string | Uint8Array, word = SECRET) {
  return {
    [`${path}/SKILL.md`]: skill,
    [`${path}/guide.md`]: `# Guide of ${path}\n\nThe word is ${word}.\n`,
    [`${path}/scripts/run.py`]: `print("${word}")\n`,
    [`${path}/deep/er/page.md`]: `# Page of ${path}\n\nThe word is ${word}.\n`,
  }
}

const UNREAD = {
  latin: LATIN,
  large: `${PROPRIETARY}${'x'.repeat(1024 * 1024)}`,
  invalid: PROPRIETARY.replace('name:', '\tname: ['),
  late: `\n${PROPRIETARY}`,
  spaced: PROPRIETARY.replace('---', '--- '),
  indented: PROPRIETARY.replace('---', '  ---'),
  unterminated: PROPRIETARY.replace('---\nThe', 'The'),
}

/** Their front matter is not as it should be, and the line of the license can be read. */
const LEGIBLE: ReadonlySet<string> = new Set(['invalid', 'spaced'])

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/tools': {
      LICENSE: MIT,
      'index.md': `# Index\n\n${Object.keys(UNREAD)
        .map(path => `[run](${path}/scripts/run.py)\n`)
        .join('')}`,
      ...Object.entries(UNREAD).reduce((files, [path, skill]) => Object.assign(files, folder(path, skill)), {}),
      ...folder('decided', LATIN, 'open'),
      'decided/LICENSE': MIT,
      ...folder('declared', LATIN, 'open'),
      'declared/SKILLSET.md': '---\nlicense: MIT\n---\n',
      'comma/SKILL.md': skillText('comma'),
      'comma/package.json': '{ "license": "UNLICENSED", }',
      'comma/page.md': `# Page\n\nThe word is ${SECRET}.\n`,
      'commented/SKILL.md': skillText('commented'),
      'commented/.claude-plugin/plugin.json': '// of us\n{ license: "UNLICENSED" }',
      'commented/page.md': `# Page\n\nThe word is ${SECRET}.\n`,
      'broken/SKILL.md': skillText('broken'),
      'broken/package.json': '{ "name": "broken", }',
      'broken/page.md': '# Open page\n',
      'latin/open/LICENSE': MIT,
      'latin/open/page.md': '# Open page\n',
    },
    'acme/root': {
      'package.json': '{"license":"MIT"}',
      ...Object.fromEntries(Object.entries(folder('x', LATIN)).map(([path, file]) => [path.slice(2), file])),
      'docs/page.md': '# Open page\n',
      'scripts/SKILL.md': skillText('nested', 'Open body.\n', 'license: MIT\n'),
    },
  })
  await app.open(ADDRESS)
  await app.open('/local/acme/root')
})
afterAll(() => app.close())

async function statusOf(address: string, path: string): Promise<[number, string | undefined]> {
  const { status, json } = await app.get(`/api/v1/files${address}?path=${path}`)
  return [status, json.error?.code]
}

describe.each(Object.keys(UNREAD))('below a SKILL.md whose license is not known (%s)', path => {
  test('no file is served, not even by the raw route', async () => {
    for (const name of ['guide.md', 'scripts/run.py', 'deep/er/page.md', 'SKILL.md']) {
      expect([name, await statusOf(ADDRESS, `${path}/${name}`)]).toEqual([name, [403, 'file.not_served']])
      const { status } = await app.get(`/git/local/acme/tools/raw/${app.commitOf('acme/tools')}/${path}/${name}`)
      expect([name, status]).toEqual([name, 404])
    }
  })

  test('no answer quotes a text, and the folder gives the reason', async () => {
    const mount = await app.ask('mounts', `${ADDRESS}/${path}`)
    const license = LEGIBLE.has(path) ? { kind: 'restricted', name: 'Proprietary' } : { kind: 'unknown', name: null }
    expect(mount.index).toMatchObject({ license: { ...license, source: `${path}/SKILL.md` } })
    expect(JSON.stringify(mount).includes('"license.unrecognized"')).toBe(!LEGIBLE.has(path))
    const answers = await Promise.all([
      mount,
      app.ask('mounts', ADDRESS),
      ...['', '/scripts', '/deep/er'].map(below => app.askReady('browse', ADDRESS, { path: `${path}${below}` })),
      app.askReady('find', `${ADDRESS}/${path}`, { query: 'the word' }),
      app.get(`/api/v1/skills${ADDRESS}?path=${path}/SKILL.md`).then(({ json }) => json),
    ])
    expect(JSON.stringify(answers)).not.toContain(SECRET)
    expect((await app.askReady('find', `${ADDRESS}/${path}`, { query: SECRET })).items).toEqual([])
  })
})

test.each(['comma', 'commented'])(
  'below a malformed package or plugin file that speaks of a license (%s), no file is served',
  async path => {
    expect(await statusOf(ADDRESS, `${path}/page.md`)).toEqual([403, 'file.not_served'])
    const mount = await app.ask('mounts', `${ADDRESS}/${path}`)
    expect(mount.index).toMatchObject({ license: { kind: 'unknown', name: null } })
  },
)

test('a malformed package file that does not speak of a license declares none', async () => {
  expect((await statusOf(ADDRESS, 'broken/page.md'))[0]).toBe(200)
})

test('a manifest or a license file in that very folder decides, as does one below', async () => {
  for (const path of ['decided/guide.md', 'decided/scripts/run.py', 'declared/deep/er/page.md', 'latin/open/page.md'])
    expect([path, (await statusOf(ADDRESS, path))[0]]).toEqual([path, path.endsWith('.py') ? 404 : 200])
})

test('an unread SKILL.md at the root governs the folders of that skill, and no document elsewhere', async () => {
  const address = '/local/acme/root'
  for (const path of ['guide.md', 'SKILL.md']) expect([path, (await statusOf(address, path))[0]]).toEqual([path, 403])
  for (const path of ['docs/page.md', 'scripts/SKILL.md']) expect([path, (await statusOf(address, path))[0]]).toEqual([path, 200])
})
