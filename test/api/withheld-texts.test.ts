import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const ADDRESS = '/local/acme/closed'
const NONE = { kind: 'none', name: null, source: null }

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/closed': {
      'SKILLSET.md': '---\nname: Closed\nimage: assets/cover.png\n---\n',
      'README.md': '# The readme\n\nReadme garden paragraph.\n',
      'told/README.md': '---\ndescription: Told by the author.\n---\n# Told\n\nReadme garden paragraph.\n',
      'told/page.md': '---\nsummary: Told page garden.\n---\n# Page\n\nPage paragraph.\n',
      'docs/plain.md': '# Plain garden\n\nPlain paragraph.\n',
      'docs/parts.md': '## First part\n\nParts paragraph.\n',
      'skills/quiet/SKILL.md': '---\nname: quiet\n---\nQuiet garden paragraph.\n',
      'skills/quiet/README.md': '# The quiet readme\n\nReadme garden paragraph.\n',
      'skills/quiet/told/README.md': '---\ndescription: Told of a part.\n---\n\nReadme garden paragraph.\n',
      'skills/own/SKILL.md': skillText('own', 'Body [b](b.md).\n', 'license: MIT\n'),
      'skills/own/b.md': '# B\n\nB garden paragraph.\n',
      'skills/own/parts/LICENSE': 'All rights reserved.\n',
      'skills/own/parts/part.md': '# Part\n\nPart garden paragraph.\n',
      'assets/cover.png': new Uint8Array([0x89, 0x50]),
    },
    'acme/open': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Open\nimage: hidden.png\nexclude: [hidden.png]\n---\n',
      'hidden.png': new Uint8Array([0x89, 0x50]),
      'page.md': '# Page\n\nPage garden paragraph.\n',
      'shown/SKILLSET.md': '---\nname: Shown\nimage: cover.png\n---\n',
      'shown/cover.png': new Uint8Array([0x89, 0x50]),
    },
    'acme/mixed': {
      LICENSE: MIT,
      'closed/SKILL.md': skillText('closed', 'Body.\n', 'license: Proprietary\n'),
      'closed/node_modules/x/SKILL.md': skillText('vendored', 'Vendored garden paragraph.\n'),
      'page.md': '# Page\n\n[vendored](closed/node_modules/x/SKILL.md)\n',
    },
  })
  await app.open(ADDRESS)
  await app.open('/local/acme/open')
})
afterAll(() => app.close())

async function ready(address: string) {
  const { index, image } = await app.ask('mounts', address)
  if (index.status !== 'ready') throw new Error(index.status)
  return { ...index, image }
}

describe('of a text that may not be copied', () => {
  test('no answer quotes a paragraph', async () => {
    const answers = await Promise.all([
      ready(ADDRESS),
      ...['', 'told', 'docs', 'skills', 'skills/quiet', 'skills/quiet/told'].map(path =>
        app.askReady('browse', ADDRESS, { path }),
      ),
      ...['garden', 'paragraph', 'quiet', 'page'].map(query => app.askReady('find', ADDRESS, { query })),
      app.askReady('skills', ADDRESS, { path: 'skills/quiet/SKILL.md' }),
    ])
    expect(JSON.stringify(answers).match(/(?:Readme|Page|Plain|Parts|Quiet|Part) [a-z ]*paragraph/g)).toBeNull()
  })

  test('a link from an open page serves no file of a skill that may not be copied', async () => {
    await app.open('/local/acme/mixed')
    const answer = await app.get('/api/v1/files/local/acme/mixed?path=closed/node_modules/x/SKILL.md')
    expect([answer.status, answer.json.error?.code]).toEqual([403, 'file.not_served'])
  })

  test('a described skill without a description has none', async () => {
    const { skill } = await app.askReady('skills', ADDRESS, { path: 'skills/quiet/SKILL.md' })
    expect(skill).toMatchObject({ description: '', serving: { full: false }, body: '' })
    expect((await ready(ADDRESS)).skills).toMatchObject([
      { name: 'own' },
      { name: 'quiet', description: '', describedOnly: true },
    ])
  })

  test('a README shows its title, and the description of its front matter only', async () => {
    expect((await app.askReady('browse', ADDRESS)).overview).toEqual({
      path: 'README.md',
      title: 'The readme',
      description: null,
    })
    expect((await app.askReady('browse', ADDRESS, { path: 'told' })).overview).toEqual({
      path: 'told/README.md',
      title: 'Told',
      description: 'Told by the author.',
    })
  })

  test('the README of a described skill does too; the skill is listed and cannot be opened', async () => {
    const { overview, entries } = await app.askReady('browse', ADDRESS, { path: 'skills/quiet' })
    expect(overview).toEqual({ path: 'skills/quiet/README.md', title: 'The quiet readme', description: null })
    expect(entries.map(({ path }) => path)).toEqual(['skills/quiet/README.md', 'skills/quiet/SKILL.md', 'skills/quiet/told'])
    expect((await app.askReady('browse', ADDRESS, { path: 'skills/quiet/told' })).overview).toMatchObject({
      title: null,
      description: 'Told of a part.',
    })
    const answer = await app.get(`/api/v1/files${ADDRESS}?path=skills/quiet/README.md`)
    expect([answer.status, answer.json.error.code]).toEqual([403, 'file.not_served'])
    expect((await app.askReady('find', ADDRESS, { query: 'quiet readme' })).items.map(({ path }) => path)).not.toContain(
      'skills/quiet/README.md',
    )
  })
})

describe('a document that may not be served is marked as such in every listing', () => {
  const plain = { path: 'docs/plain.md', title: 'Plain garden', summary: '', license: NONE, describedOnly: true }

  test('of the mount', async () => {
    expect((await ready(ADDRESS)).documents).toEqual([
      { ...plain, path: 'docs/parts.md', title: 'parts' },
      plain,
      { ...plain, path: 'told/page.md', title: 'Page', summary: 'Told page garden.' },
    ])
    expect((await ready('/local/acme/open')).documents).toEqual([
      { path: 'page.md', title: 'Page', summary: 'Page garden paragraph.' },
    ])
  })

  test('of browse', async () => {
    const { entries } = await app.askReady('browse', ADDRESS, { path: 'docs' })
    expect(entries[1]).toEqual({
      path: 'docs/plain.md',
      kind: 'file',
      size: expect.any(Number),
      title: 'Plain garden',
      license: NONE,
      describedOnly: true,
    })
    const open = await app.askReady('browse', '/local/acme/open')
    expect(open.entries.find(({ path }) => path === 'page.md')).not.toHaveProperty('describedOnly')
  })

  test('of find', async () => {
    const { items } = await app.askReady('find', ADDRESS, { query: 'plain' })
    expect(items).toEqual([{ kind: 'document', ...plain }])
    const open = await app.askReady('find', '/local/acme/open', { query: 'garden' })
    expect(open.items).toEqual([{ kind: 'document', path: 'page.md', title: 'Page', summary: expect.any(String) }])
  })

  test('and so is a file of a skill in a folder of another license', async () => {
    const { entries } = await app.askReady('browse', ADDRESS, { path: 'skills/own/parts' })
    expect(entries.find(({ path }) => path === 'skills/own/parts/part.md')).toMatchObject({
      license: { kind: 'restricted' },
      describedOnly: true,
    })
  })
})

describe('a declared picture that is withheld is null, with a diagnostic', () => {
  const withheld = { code: 'image.withheld', severity: 'warning', path: 'SKILLSET.md', field: 'image' }

  test('if it is excluded', async () => {
    const { image, diagnostics } = await ready('/local/acme/open')
    expect([image, diagnostics]).toEqual([null, [{ ...withheld, message: expect.not.stringContaining('hidden') }]])
    expect((await ready('/local/acme/open/shown')).image).toBe(
      `${BASE_URL}/git/local/acme/open/raw/${app.commitOf('acme/open')}/shown/cover.png`,
    )
  })

  test('if no license permits to copy it, and this process would have to serve it', async () => {
    for (const address of [ADDRESS, `${ADDRESS}/docs`]) {
      const { image, diagnostics } = await ready(address)
      expect([image, diagnostics]).toMatchObject([null, expect.arrayContaining([expect.objectContaining(withheld)])])
    }
  })

  test('but not if the operator lets this process serve it, or the host serves it', async () => {
    const opened = await testApp(
      { 'acme/closed': { 'SKILLSET.md': '---\nimage: cover.png\n---\n', 'cover.png': new Uint8Array([0x89]) } },
      { github: { withToken: true }, deps: deps => ({ ...deps, localSource: 'open' }) },
    )
    const strict = await testApp(
      { 'acme/closed': { 'SKILLSET.md': '---\nimage: cover.png\n---\n', 'cover.png': new Uint8Array([0x89]) } },
      { github: { withToken: true } },
    )
    try {
      await opened.open(ADDRESS)
      await strict.open('/gh/acme/closed')
      expect(await opened.ask('mounts', ADDRESS)).toMatchObject({
        image: expect.stringContaining('/cover.png'),
        index: { diagnostics: [] },
      })
      expect(await strict.ask('mounts', '/gh/acme/closed')).toMatchObject({
        image: expect.stringContaining('/cover.png'),
        index: { diagnostics: [] },
      })
    } finally {
      await opened.close()
      await strict.close()
    }
  })
})
