/* Symbolic links: what they lead to is read at the path that they give it, as git, installers and hosts read it. */
import { describe, expect, test } from 'vitest'
import type { TestFile } from '#test/support/repository.ts'
import { endpointUrl } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { app, codeOf, open, overviewOf, skillOf, useTrapScene } from './trap-scene.ts'

useTrapScene()

const link = (target: string): TestFile => ({ link: target })

async function contentOf(address: string, path: string): Promise<string> {
  return (await app.ask('files', address, { path })).content
}

describe('a symlink', () => {
  test('to a file of the commit is that file: a reference, a supporting file, and part of the package', async () => {
    const address = await open({
      'skills/a/SKILL.md': skillText('a', 'Read [style](references/style.md).\n'),
      'skills/a/references/style.md': link('../../../shared/style.md'),
      'shared/style.md': '# Style\n',
    })
    const skill = await skillOf(address, 'skills/a/SKILL.md')
    expect(skill).toMatchObject({
      warnings: [],
      references: ['skills/a/references/style.md'],
      files: ['skills/a/references/style.md'],
    })
    expect(await contentOf(address, 'skills/a/references/style.md')).toBe('# Style\n')
    const index = (await app.get(`${address}/.well-known/agent-skills/index.json`)).json
    expect(index.skills.map(({ name }: { name: string }) => name)).toEqual(['a'])
  })

  test('to a folder gives its files, through other links too', async () => {
    const address = await open({
      'skills/a/SKILL.md': skillText('a', 'Read [style](references/style.md) and [deep](references/deep/one.md).\n'),
      'skills/a/references': link('../../links/first'),
      'links/first': link('second/'),
      'links/second': link('../shared'),
      'shared/style.md': '# Style\n',
      'shared/deep': link('../other'),
      'other/one.md': '# One\n',
    })
    expect((await skillOf(address, 'skills/a/SKILL.md')).references).toEqual([
      'skills/a/references/style.md',
      'skills/a/references/deep/one.md',
    ])
    const entries = (await app.askReady('browse', address, { path: 'skills/a/references' })).entries
    expect(entries.map(({ path }) => path)).toEqual(['skills/a/references/deep', 'skills/a/references/style.md'])
    expect(await contentOf(address, 'skills/a/references/deep/one.md')).toBe('# One\n')
  })

  test('may be a SKILL.md, an include, a manifest, a license and an AGENTS.md', async () => {
    const address = await open({
      LICENSE: link('legal/mit.txt'),
      'legal/mit.txt': MIT,
      'SKILLSET.md': link('legal/skills.yaml'),
      'legal/skills.yaml': '---\nname: Set\nexclude: [secret.md]\n---\nRules.\n',
      'secret.md': '# Secret\n',
      'skills/a/SKILL.md': link('../../prompts/a.txt'),
      'prompts/a.txt': skillText('a', 'Body.\n', 'include: [AGENTS.md]\n'),
      'skills/a/AGENTS.md': link('CLAUDE.md'),
      'skills/a/CLAUDE.md': 'Agents.\n',
    })
    const overview = await overviewOf(address)
    expect(overview).toMatchObject({
      license: { kind: 'open', source: 'legal/mit.txt' },
      manifest: { name: 'Set' },
      skills: [{ path: 'skills/a/SKILL.md' }],
    })
    expect(await codeOf(address, 'secret.md')).toBe('file.not_found')
    const skill = await skillOf(address, 'skills/a/SKILL.md')
    expect(skill).toMatchObject({ body: 'Body.\n', includes: [{ path: 'skills/a/AGENTS.md', content: 'Agents.\n' }] })
    // Hosts serve the text of a link at its own path.
    expect(skill.serving.sourceUrl).toMatch(/\/prompts\/a\.txt$/)
  })

  test.for<[string, Record<string, TestFile>, string]>([
    ['to nothing', { 'a/x.md': link('none.md') }, 'a/x.md'],
    ['to itself', { 'a/x.md': link('x.md') }, 'a/x.md'],
    ['around', { 'a/x.md': link('y.md'), 'a/y.md': link('x.md') }, 'a/x.md'],
    ['out of the repository', { 'a/x.md': link('../../../etc/passwd') }, 'a/x.md'],
    ['by an absolute path', { 'a/x.md': link('/etc/passwd') }, 'a/x.md'],
    ['to its own folder', { 'a/x': link('.') }, 'a/x/SKILL.md'],
    ['to the root', { 'a/x': link('..') }, 'a/x/a/SKILL.md'],
    ['to a folder that leads back', { 'a/x': link('../b'), 'b/y': link('../a'), 'b/z.md': 'Z.\n' }, 'a/x/y/SKILL.md'],
    ['to a file as if it were a folder', { 'a/x.md': link('../b.md/'), 'b.md': 'B.\n' }, 'a/x.md'],
    [
      'through too many others',
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`a/x${n}.md`, n === 11 ? 'X.\n' : link(`x${n + 1}.md`)])),
      'a/x0.md',
    ],
  ])('%s gives nothing, and the skill is read all the same', async ([_where, files, path]) => {
    const address = await open({ 'a/SKILL.md': skillText('a', 'Read [x](x.md).\n'), ...files })
    expect((await skillOf(address)).body).toBe('Read [x](x.md).\n')
    expect(await codeOf(address, path)).toBe('file.not_found')
    expect((await overviewOf(address)).counts.skills).toBe(1)
  })

  test('opens nothing that a manifest withholds at its target, or at its own path', async () => {
    const address = await open({
      'SKILLSET.md': '---\nexclude: [/drafts/, "*.hidden.md"]\n---\n',
      'drafts/one.md': '# One\n',
      'drafts/SKILLSET.md': '---\nname: Drafts\n---\nSecret rules.\n',
      'closed/SKILLSET.md': '---\nexclude: none\n---\n',
      'closed/two.md': '# Two\n',
      'shared/three.md': '# Three\n',
      'a/SKILL.md': skillText('a', 'See [one](one.md), [two](two.md), [drafts](drafts/one.md).\n', 'include: [one.md, two.md]\n'),
      'a/one.md': link('../drafts/one.md'),
      'a/two.md': link('../closed/two.md'),
      'a/drafts': link('../drafts'),
      'a/closed': link('../closed'),
      'a/three.hidden.md': link('../shared/three.md'),
      'b/SKILLSET.md': link('../drafts/SKILLSET.md'),
      'b/SKILL.md': skillText('b'),
    })
    for (const path of ['a/one.md', 'a/two.md', 'a/drafts/one.md', 'a/closed/two.md', 'a/three.hidden.md', 'b/SKILL.md'])
      expect([path, await codeOf(address, path)]).toEqual([path, 'file.not_found'])
    const page = await app.askReady('skills', address, { path: 'a/SKILL.md' })
    expect(page).toMatchObject({ complete: false, skill: { files: [], references: [] } })
    expect(JSON.stringify([page, await overviewOf(address)])).not.toMatch(/# One|# Two|Secret rules|Drafts/)
    expect((await app.askReady('browse', address, { path: 'a' })).entries).toMatchObject([
      { path: 'a/SKILL.md' },
      { path: 'a/closed', counts: { documents: 0 } },
    ])
    // Nor is the text of the link, which names what is withheld.
    const { commit } = await app.ask('mounts', address)
    const rawStatus = async (path: string) => (await app.get(`/git${address}/raw/${commit}/${path}`)).status
    expect([await rawStatus('a/one.md'), await rawStatus('a/drafts/one.md'), await rawStatus('shared/three.md')]).toEqual([
      404, 404, 200,
    ])
    // A manifest that is withheld closes the folder that it would govern.
    expect((await app.get(endpointUrl('mounts', `${address}/b`))).json.index).toMatchObject({ counts: { skills: 0 } })
  })

  test('copies nothing without a license to copy at its target, or at its own path', async () => {
    const address = await open({
      'own/LICENSE': 'All rights reserved. Proprietary.\n',
      'own/style.md': '# Style\n',
      'own/s/SKILL.md': skillText('s'),
      'a/SKILL.md': skillText('a', 'Read [style](style.md).\n', 'include: [style.md]\n'),
      'a/style.md': link('../own/style.md'),
      'a/own': link('../own'),
      b: link('own/s'),
      'c/LICENSE': 'All rights reserved. Proprietary.\n',
      'c/SKILL.md': skillText('c'),
      'c/style.md': link('../free.md'),
      'free.md': '# Free\n',
    })
    for (const path of ['a/style.md', 'a/own/style.md', 'b/SKILL.md', 'c/style.md'])
      expect([path, await codeOf(address, path)]).toEqual([path, 'file.not_served'])
    const page = await app.askReady('skills', address, { path: 'a/SKILL.md' })
    expect(page).toMatchObject({ complete: false, diagnostics: [{ code: 'include.not_served' }] })
    expect((await skillOf(address, 'b/SKILL.md')).serving).toMatchObject({ full: false, license: { kind: 'restricted' } })
    expect(JSON.stringify([page, (await app.askReady('find', address, { query: 'style' })).items])).not.toMatch(/# Style/)
  })
})

describe('a second path to a skill or document', () => {
  test('can be read, and is not listed, counted or found', async () => {
    const address = await open({
      'skills/a/SKILL.md': skillText('a', 'Read [more](more.md).\n'),
      'skills/a/more.md': '# More\n',
      '.agents/skills': link('../skills'),
      'plugin/skills/a': link('../../skills/a'),
      'plugin/one/SKILL.md': link('../../skills/a/SKILL.md'),
      'docs/v1/page.md': '# Page\n',
      'docs/latest': link('v1'),
    })
    const overview = await overviewOf(address)
    expect(overview.counts).toEqual({ skills: 1, documents: 1 })
    expect(overview.skills).toMatchObject([{ path: 'skills/a/SKILL.md', warnings: [] }])
    expect(overview.documents.map(({ path }) => path)).toEqual(['docs/v1/page.md'])
    for (const query of ['more', 'page', 'a'])
      expect((await app.askReady('find', address, { query })).items.length).toBeLessThanOrEqual(1)
    for (const path of ['.agents/skills/a/SKILL.md', 'plugin/skills/a/SKILL.md'])
      expect(await skillOf(address, path)).toMatchObject({ name: 'a', body: 'Read [more](more.md).\n' })
    expect(await contentOf(address, '.agents/skills/a/more.md')).toBe('# More\n')
    expect(await contentOf(address, 'docs/latest/page.md')).toBe('# Page\n')
    const index = (await app.get(`${address}/.well-known/agent-skills/index.json`)).json
    expect(index.skills).toHaveLength(1)
  })

  test('is bounded: links that multiply are followed up to a limit, and the overview reports it', async () => {
    const files: Record<string, TestFile> = { 'a/SKILL.md': skillText('a'), 'd6/x.md': '# X\n' }
    for (let level = 0; level < 6; level++) for (let n = 0; n < 10; n++) files[`d${level}/l${n}`] = link(`../d${level + 1}`)
    const overview = await overviewOf(await open(files))
    expect(overview).toMatchObject({ counts: { skills: 1 }, truncated: true })
    expect(overview.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'tree.limit', message: expect.stringContaining('20000') }),
    )
  })
})
