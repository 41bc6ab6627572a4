import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, tools, repository, commits, tokens, ask, askJson, statusOf } = scene

afterEach(scene.check)
afterAll(scene.close)

describe('refs and objects', () => {
  const SHA = { accept: 'application/vnd.github.sha' }
  const shaOf = async (ref: string, name = 'tools'): Promise<string | number> => {
    const answer = await ask(`/repos/acme/${name}/commits/${ref}`, { headers: SHA })
    return answer.ok ? answer.text() : answer.status
  }

  test('a ref is answered with its commit alone, and the tag of the answer is the commit', async () => {
    const path = '/repos/acme/tools/commits/main'
    const answer = await ask(path, { headers: SHA })
    expect(answer.headers.get('content-type')).toBe('application/vnd.github.sha; charset=utf-8')
    expect([await answer.text(), answer.headers.get('etag')]).toEqual([commits.second, `"${commits.second}"`])
    expect(await statusOf(path, { headers: { ...SHA, 'if-none-match': `"${commits.second}"` } })).toBe(304)
    // Unlike a JSON body's, this tag is the same for every token.
    expect(await statusOf(path, { token: tokens.ada, headers: { ...SHA, 'if-none-match': `"${commits.second}"` } })).toBe(304)
    expect(await statusOf(path, { headers: { ...SHA, 'if-none-match': `"${commits.first}"` } })).toBe(200)
  })

  test.each([
    ['v1', () => commits.first],
    ['tags/v1', () => commits.first],
    ['refs/tags/v1', () => commits.first],
    ['heads/main', () => commits.second],
    ['feature%2Fx', () => commits.side],
    ['feature/x', () => commits.side],
    ['HEAD', () => commits.second],
    ['nothing', () => 422],
    ['main~1', () => 422],
    ['--all', () => 422],
    ['main%0Amain', () => 422],
    ['0000000000000000000000000000000000000000', () => 422],
  ])('the ref %s', async (ref, expected) => {
    expect(await shaOf(ref)).toBe(expected())
  })

  test('commits are found by their id and its beginning, those of the whole fork network too', async () => {
    expect(await shaOf(commits.first)).toBe(commits.first)
    expect(await shaOf(commits.first.slice(0, 9))).toBe(commits.first)
    expect(await shaOf(commits.impostor)).toBe(commits.impostor)
    expect(await shaOf(commits.impostor, 'empty')).toBe(409)
  })

  test('a name that is a branch and a tag is the one that the test chooses', async () => {
    await tools.branch('both', commits.first)
    await tools.tag('both', commits.second)
    expect(await shaOf('both')).toBe(commits.first)
    github.world.ambiguousRefs = 'tag'
    expect(await shaOf('both')).toBe(commits.second)
    github.world.ambiguousRefs = 'branch'
    await tools.git('update-ref', '-d', 'refs/heads/both')
    await tools.git('update-ref', '-d', 'refs/tags/both')
  })

  test('an unknown ref and an empty repository have their own errors', async () => {
    expect(await askJson('/repos/acme/tools/commits/nothing')).toMatchObject({
      message: 'No commit found for SHA: nothing',
      status: '422',
    })
    expect(await askJson('/repos/acme/empty/commits/main')).toMatchObject({ message: 'Git Repository is empty.', status: '409' })
    expect(await askJson('/repos/acme/empty/git/trees/main')).toMatchObject({ status: '409' })
    expect(await askJson('/repos/acme/empty')).toMatchObject({ default_branch: 'main', size: 0 })
  })

  test('a commit has its list of changed files', async () => {
    expect(await askJson('/repos/acme/tools/commits/main')).toMatchObject({
      sha: commits.second,
      parents: [{ sha: commits.first }],
      commit: { message: 'Change files', author: { email: 'test@example.org' } },
      stats: { additions: 3, deletions: 1, total: 4 },
    })
  })

  test('a comparison shows whether a commit is part of a branch', async () => {
    const compared = async (basehead: string) => askJson(`/repos/acme/tools/compare/${basehead}?per_page=1`)
    expect(await compared(`main...${commits.first}`)).toMatchObject({ status: 'behind', ahead_by: 0, behind_by: 1, commits: [] })
    expect(await compared(`main...${commits.second}`)).toMatchObject({ status: 'identical', total_commits: 0, files: [] })
    expect(await compared(`main...${commits.impostor}`)).toMatchObject({ status: 'ahead', commits: [{ sha: commits.impostor }] })
    expect(await compared('main...feature%2Fx')).toMatchObject({
      status: 'diverged',
      files: [{ filename: 'side.md', status: 'added' }],
    })
    expect(await compared('main...nothing')).toMatchObject({ status: '404' })
    const alone = await tools.commit({ 'alone.md': '' }, { branch: null, parent: null })
    expect(await compared(`main...${alone}`)).toMatchObject({
      status: '404',
      message: expect.stringContaining('No common ancestor'),
    })
  })

  test('a tree by commit, id or ref, flat or recursive, and truncated if it is too large', async () => {
    const paths = (body: { tree: { path: string }[] }) => body.tree.map(({ path }) => path)
    const flat = await askJson('/repos/acme/tools/git/trees/main')
    expect(paths(flat)).toEqual(['.gitattributes', 'README.md', 'docs', 'skills', 'version.txt'])
    const whole = await askJson(`/repos/acme/tools/git/trees/${commits.first}?recursive=1`)
    expect(paths(whole)).toEqual(['.gitattributes', 'README.md', 'skills', 'skills/a', 'skills/a/SKILL.md'])
    expect(whole.tree[1]).toMatchObject({
      mode: '100644',
      type: 'blob',
      size: 4,
      sha: await tools.oidAt(commits.first, 'README.md'),
    })
    const skills = await tools.oidAt(commits.first, 'skills')
    expect(await askJson(`/repos/acme/tools/git/trees/${skills}?recursive=0`)).toMatchObject({ sha: skills, truncated: false })
    repository.treeLimit = 2
    expect(await askJson('/repos/acme/tools/git/trees/main?recursive=1')).toMatchObject({ truncated: true, tree: [{}, {}] })
    repository.treeLimit = 100_000
    // Few entries, whose paths alone come to eight megabytes.
    const deep = `${'long'.repeat(60)}/`.repeat(16)
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${deep}${index}.md`, '']))
    const level = await tools.commit(files, { branch: null, parent: null })
    const inner = { mode: '40000', oid: await tools.git('rev-parse', `${level}^{tree}`) }
    const rows = Array.from({ length: 20 }, (_, index) => ({ ...inner, name: String(index).padStart(4, '0') }))
    const huge = await askJson(`/repos/acme/tools/git/trees/${await tools.rawTree(rows)}?recursive=1`)
    expect([huge.truncated, huge.tree.length > 1_500, huge.tree.length < 2_000]).toEqual([true, true, true])
    expect(await askJson('/repos/acme/tools/git/trees/nothing')).toMatchObject({ status: '404' })
  })

  test('a submodule and a link have their own types in a tree', async () => {
    const commit = await tools.commit({ module: { submodule: commits.first }, link: { link: 'README.md' } }, { branch: null })
    const { tree } = await askJson(`/repos/acme/tools/git/trees/${commit}`)
    expect(tree.map(({ mode, type }: { mode: string; type: string }) => `${mode} ${type}`)).toEqual([
      '120000 blob',
      '160000 commit',
    ])
    expect(Object.keys(tree[1])).not.toContain('size')
  })
})

test('a single file by its path, raw and as JSON', async () => {
  const page = await ask(`${github.origins.web}/acme/Tools/raw/${commits.first}/skills/a/SKILL.md`)
  expect(page.status).toBe(302)
  const raw = await ask(page.headers.get('location') ?? '')
  expect([await raw.text(), raw.headers.get('x-content-type-options')]).toEqual(['a\n', 'nosniff'])
  expect(await statusOf(`${github.origins.raw}/acme/closed/main/secret.md`)).toBe(404)
})
