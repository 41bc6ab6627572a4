import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EndpointName } from '#core/contract/endpoints.ts'
import { type Client, joinSkill, walkFolders } from '#test/support/joined.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const HANDBOOK = '/local/acme/handbook'
const TEAM = `${HANDBOOK}/team`
const WRITING = `${TEAM}/writing`

let app: TestApp
let client: Client
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'SKILLSET.md': [
        '---\nname: Handbook\nlanguage: en\nimage: cover.png\nowner: us',
        'include: [style.md]\nexclude: ["*.secret.md"]\n---\nRoot rule.\n',
      ].join('\n'),
      'cover.png': new Uint8Array([0x89, 0x50]),
      'style.md': 'Garden style.\n',
      'guide.md': '# Guide\n\nGarden guide.\n',
      'shared/terms.md': 'Garden terms.\n',
      'team/SKILLSET.md': '---\nname: Team\nexclude: [drafts/, "!*.secret.md"]\n---\nTeam rule.\n',
      'team/README.md': '# The team\n\nWe garden.\n',
      'team/notes.md': '# Notes\n\nGarden notes.\n',
      'team/a.secret.md': '# Secret\n\nGarden secret.\n',
      'team/drafts/draft.md': '# Draft\n\nGarden draft.\n',
      'team/writing/SKILL.md': skillText(
        'writing',
        'Garden: [guide](/guide.md), [own](own.md), [notes](../notes.md).\n',
        'include: ../../shared/terms.md\n',
      ),
      'team/writing/own.md': '# Own\n\nGarden own.\n',
      'team/writing/references/deep.md': '# Deep\n\nGarden deep.\n',
      'team/writing/inner/SKILL.md': skillText('inner', 'Garden inner.\n'),
      'team/closed/SKILLSET.md': '---\nbroken',
      'team/closed/inside/page.md': '# Page\n\nGarden page.\n',
      'team/proprietary/LICENSE': 'All rights reserved.\n',
      'team/proprietary/sub/SKILL.md': skillText('sub', 'Garden sub.\n'),
      'team/proprietary/sub/file.md': '# File\n\nGarden file.\n',
      'other/writing/SKILL.md': skillText('writing', 'Garden other.\n'),
      'team-mates.md': '# Team mates\n\nGarden mates.\n',
      'src/lib/main.ts': 'export {}\n',
    },
  })
  client = { get: (name, address, query) => app.ask(name, address, query) }
  await app.open(HANDBOOK)
})
afterAll(() => app.close())

async function codeOf(name: EndpointName, address: string, query: Record<string, string> = {}): Promise<string> {
  const { status, json } = await app.get(endpointUrl(name, address, query))
  return status === 200 ? 'ok' : json.error.code
}

async function foundIn(address: string, query: Record<string, string> = {}): Promise<string[]> {
  const { items } = await app.askReady('find', address, { query: 'garden', limit: 25, ...query })
  return items.flatMap(item => [item.path, ...(item.kind === 'skill' ? item.files.map(file => file.path) : [])]).sort()
}

describe('a mount below the root', () => {
  test('browses exactly its folder, under the real paths of the repository', async () => {
    const paths = (await walkFolders(client, TEAM)).map(entry => entry.path)
    expect(paths).toEqual([
      'team/closed',
      'team/notes.md',
      'team/proprietary',
      'team/proprietary/sub',
      'team/proprietary/sub/SKILL.md',
      'team/proprietary/sub/file.md',
      'team/writing',
      'team/writing/SKILL.md',
      'team/writing/inner',
      'team/writing/inner/SKILL.md',
      'team/writing/own.md',
      'team/writing/references',
      'team/writing/references/deep.md',
    ])
    expect(await walkFolders(client, HANDBOOK, 'team')).toEqual(await walkFolders(client, TEAM))
    expect(await app.ask('browse', TEAM)).toMatchObject({ path: 'team', overview: { path: 'team/README.md', title: 'The team' } })
  })

  test('finds exactly the content of its folder', async () => {
    const inTeam = [
      'team/notes.md',
      'team/writing/SKILL.md',
      'team/writing/inner/SKILL.md',
      'team/writing/own.md',
      'team/writing/references/deep.md',
    ]
    expect(await foundIn(TEAM)).toEqual(inTeam)
    expect(await foundIn(HANDBOOK, { path: 'team' })).toEqual(inTeam)
    expect(await foundIn(HANDBOOK)).toEqual(
      ['guide.md', 'other/writing/SKILL.md', 'shared/terms.md', 'style.md', 'team-mates.md', ...inTeam].sort(),
    )
  })

  test('counts and lists the content of its folder', async () => {
    const { index, path, address } = await app.ask('mounts', TEAM)
    expect({ path, address }).toEqual({ path: 'team', address: TEAM })
    expect(index).toMatchObject({
      counts: { skills: 3, documents: 1 },
      skills: [
        { path: 'team/proprietary/sub/SKILL.md' },
        { path: 'team/writing/SKILL.md' },
        { path: 'team/writing/inner/SKILL.md' },
      ],
      documents: [{ path: 'team/notes.md' }],
    })
  })

  test.for([
    'guide.md',
    'style.md',
    'shared/terms.md',
    'SKILLSET.md',
    'LICENSE',
    'team-mates.md',
    'other/writing/SKILL.md',
    'notes.md',
    'shared',
    'other',
    'team-mates',
  ])('reads nothing outside: %j', async path => {
    expect(await codeOf('files', TEAM, { path })).toBe('file.not_found')
    expect(await codeOf('skills', TEAM, { path })).toBe('skill.not_found')
    expect(await codeOf('browse', TEAM, { path })).toBe('mount.path_not_found')
    expect(await codeOf('find', TEAM, { path, query: 'garden' })).toBe('mount.path_not_found')
  })

  test('has one skill of a name that the repository has twice, with a warning', async () => {
    const answer = await app.get(endpointUrl('skills', TEAM, { path: 'writing' }))
    expect(answer.json.error).toMatchObject({
      code: 'skill.not_found',
      message: expect.stringContaining('team/writing/SKILL.md'),
    })
    const { skill } = await app.askReady('skills', TEAM, { path: 'team/writing/SKILL.md' })
    expect(skill.warnings).toContainEqual(expect.objectContaining({ code: 'name.duplicate' }))
    expect(JSON.stringify(skill)).not.toContain('other/writing')
  })
})

describe('content above and beside the mount', () => {
  test.for([HANDBOOK, TEAM, WRITING])('rules of every ancestor and includes arrive inside skill pages: %s', async address => {
    const { rules, body, includes, complete } = await joinSkill(client, address, 'team/writing/SKILL.md')
    expect(rules).toEqual([
      { path: 'SKILLSET.md', text: 'Root rule.' },
      { path: 'team/SKILLSET.md', text: 'Team rule.' },
    ])
    expect(body).toMatch(/^Garden: /)
    expect(includes).toEqual([
      { path: 'style.md', text: 'Garden style.\n' },
      { path: 'shared/terms.md', text: 'Garden terms.\n' },
    ])
    expect(complete).toBe(true)
  })

  test.for([
    [HANDBOOK, ['guide.md', 'team/writing/own.md', 'team/notes.md', 'team/writing/inner/SKILL.md'], []],
    [TEAM, ['team/writing/own.md', 'team/notes.md', 'team/writing/inner/SKILL.md'], ['guide.md']],
    [WRITING, ['team/writing/own.md', 'team/writing/inner/SKILL.md'], ['guide.md', 'team/notes.md']],
  ] as const)('a reference is listed if it can be read, and gives a warning if not: %s', async ([address, listed, outside]) => {
    const { skill } = await app.askReady('skills', address, { path: 'team/writing/SKILL.md' })
    expect(skill.references).toEqual(listed)
    const warned = skill.warnings.filter(({ code }) => code === 'reference.outside').map(({ message }) => message.split(' ')[0])
    expect(warned).toEqual(outside)
  })

  test.for([
    [HANDBOOK, 'SKILLSET.md', 'Handbook'],
    [TEAM, 'team/SKILLSET.md', 'Team'],
    [WRITING, 'team/SKILLSET.md', 'Team'],
    [`${HANDBOOK}/shared`, 'SKILLSET.md', 'Handbook'],
  ])('the nearest manifest gives path and name, and inherits the language: %s', async ([address, path, name]) => {
    const { index, image, commit } = await app.ask('mounts', address as string)
    expect(index).toMatchObject({ manifest: { path, name, language: 'en' } })
    // The picture is that of the nearest manifest that declares one.
    expect(image).toBe(`https://mountglass.test/git${HANDBOOK}/raw/${commit}/cover.png`)
  })

  test.for([HANDBOOK, TEAM, `${TEAM}/proprietary`])(
    'exclusions of ancestors apply, and no deeper manifest lifts them: %s',
    async address => {
      for (const path of ['team/a.secret.md', 'team/drafts/draft.md'])
        expect(await codeOf('files', address, { path })).toBe('file.not_found')
    },
  )

  test.for([HANDBOOK, `${TEAM}/proprietary`, `${TEAM}/proprietary/sub`])(
    'the license of an ancestor holds: %s',
    async address => {
      const path = 'team/proprietary/sub/SKILL.md'
      const license = { kind: 'restricted', name: null, source: 'team/proprietary/LICENSE' }
      const { index } = await app.ask('mounts', address)
      if (index.status !== 'ready') throw new Error(index.status)
      expect(index.skills).toContainEqual(expect.objectContaining({ path, license, describedOnly: true }))
      expect(index.license).toEqual(address === HANDBOOK ? { kind: 'open', name: 'MIT', source: 'LICENSE' } : license)
      const entries = (await walkFolders(client, address)).filter(entry => entry.path === path)
      expect(entries).toMatchObject([{ license, describedOnly: true }])
      expect((await app.askReady('skills', address, { path })).skill).toMatchObject({
        body: '',
        serving: { full: false, license },
      })
      expect(await codeOf('files', address, { path })).toBe('file.not_served')
      expect(await codeOf('files', address, { path: 'team/proprietary/sub/file.md' })).toBe('file.not_served')
    },
  )

  test.for([
    [HANDBOOK, ['SKILLSET.md', 'team/closed/SKILLSET.md', 'team/proprietary/LICENSE']],
    [TEAM, ['SKILLSET.md', 'team/closed/SKILLSET.md', 'team/proprietary/LICENSE']],
    [WRITING, ['SKILLSET.md']],
    [`${TEAM}/closed`, ['SKILLSET.md', 'team/closed/SKILLSET.md']],
  ] as const)(
    'diagnostics concern manifests that apply, manifests below, and licenses below that are not open: %s',
    async ([address, paths]) => {
      const { index } = await app.ask('mounts', address)
      if (index.status !== 'ready') throw new Error(index.status)
      expect(index.diagnostics.map(({ path }) => path)).toEqual(paths)
      expect((await app.askReady('browse', address)).diagnostics).toEqual(index.diagnostics)
      expect((await app.askReady('find', address, { query: 'garden' })).diagnostics).toEqual(index.diagnostics)
    },
  )
})

describe('folders of every kind', () => {
  test('a skill folder shows its skill and the files of the skill', async () => {
    expect((await app.ask('mounts', WRITING)).index).toMatchObject({
      counts: { skills: 2, documents: 0 },
      skills: [{ path: 'team/writing/SKILL.md' }, { path: 'team/writing/inner/SKILL.md' }],
      documents: [],
    })
    const { entries } = await app.askReady('browse', WRITING)
    expect(entries.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'file team/writing/SKILL.md',
      'directory team/writing/inner',
      'file team/writing/own.md',
      'directory team/writing/references',
    ])
    expect(await codeOf('files', WRITING, { path: 'team/writing/own.md' })).toBe('ok')
  })

  test('a folder inside a skill has its files, those in Markdown as documents, and not the skill', async () => {
    const address = `${WRITING}/references`
    expect((await app.ask('mounts', address)).index).toMatchObject({
      counts: { skills: 0, documents: 1 },
      skills: [],
      documents: [{ path: 'team/writing/references/deep.md', title: 'Deep', summary: 'Garden deep.' }],
    })
    expect((await app.askReady('browse', address)).entries).toMatchObject([{ path: 'team/writing/references/deep.md' }])
    expect(await foundIn(address)).toEqual(['team/writing/references/deep.md'])
    expect(await codeOf('skills', address, { path: 'team/writing/SKILL.md' })).toBe('skill.not_found')
    expect(await codeOf('files', address, { path: 'team/writing/references/deep.md' })).toBe('ok')
  })

  test('a closed folder is a mount without content that gives the reason; a file below it is no folder', async () => {
    const address = `${TEAM}/closed`
    expect((await app.ask('mounts', address)).index).toMatchObject({
      counts: { skills: 0, documents: 0 },
      diagnostics: [{ path: 'SKILLSET.md' }, { code: 'manifest.unreadable', boundary: 'team/closed' }],
    })
    expect((await app.askReady('browse', address)).entries).toEqual([])
    expect(await foundIn(address)).toEqual([])
    expect(await codeOf('files', address, { path: 'team/closed/inside/page.md' })).toBe('file.not_found')
    expect(await codeOf('files', address, { path: 'team/closed/SKILLSET.md' })).toBe('file.not_found')
    expect(await codeOf('mounts', `${address}/inside`)).toBe('mount.path_not_found')
  })

  test('an excluded folder gives the same answer as a missing one', async () => {
    for (const route of ['mounts', 'browse', 'find', 'skills', 'files'] as const) {
      const query: Record<string, string> =
        { find: { query: 'garden' }, skills: { path: 'x' }, files: { path: 'x' } }[route as 'find'] ?? {}
      const [excluded, absent] = await Promise.all(
        ['drafts', 'nowhere'].map(folder => app.get(endpointUrl(route, `${TEAM}/${folder}`, query))),
      )
      expect([excluded?.status, excluded?.body]).toEqual([404, absent?.body])
    }
  })

  test('a folder without content is ready and empty', async () => {
    const { index } = await app.ask('mounts', `${HANDBOOK}/src/lib`)
    expect(index).toMatchObject({
      status: 'ready',
      counts: { skills: 0, documents: 0 },
      manifest: { path: 'SKILLSET.md' },
      skills: [],
      documents: [],
    })
    expect((await app.askReady('browse', `${HANDBOOK}/src/lib`)).entries).toEqual([])
    expect(await foundIn(`${HANDBOOK}/src/lib`)).toEqual([])
  })
})
