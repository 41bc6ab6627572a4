import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, tools, repository, commits, ask, askJson } = scene

afterEach(scene.check)
afterAll(scene.close)

describe('refs and objects', () => {
  const SHA = { accept: 'application/vnd.github.sha' }
  const shaOf = async (ref: string, name = 'tools'): Promise<string | number> => {
    const answer = await ask(`/repos/acme/${name}/commits/${ref}`, { headers: SHA })
    return answer.ok ? answer.text() : answer.status
  }

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
})
