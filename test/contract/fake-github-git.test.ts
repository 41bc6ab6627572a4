import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { basic, openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, work, repository, commits, tokens, ask, statusOf, git, gitFailure } = scene

afterEach(scene.check)
afterAll(scene.close)

describe('git', () => {
  const remote = (path: string) => `${github.origins.web}/${path}`

  test('refs are listed with and without .git, in two requests', async () => {
    const listed = await git(['ls-remote', remote('ACME/tools.git'), 'refs/heads/*'])
    expect(listed.split('\n')).toEqual([`${commits.side}\trefs/heads/feature/x`, `${commits.second}\trefs/heads/main`])
    expect(await git(['ls-remote', remote('acme/tools'), 'refs/tags/v1^{}'])).toContain(commits.first)
    expect(github.log.git.slice(0, 2).map(({ git: asked }) => asked?.command)).toEqual(['info/refs', 'ls-refs'])
  })

  test('any commit of the network is fetched by its id through any of its repositories', async () => {
    const folder = join(work, 'impostor.git')
    await git(['init', '--quiet', '--bare', folder])
    await git(['--git-dir', folder, 'fetch', '--quiet', '--depth', '1', remote('acme/tools'), commits.impostor])
    expect(await git(['--git-dir', folder, 'cat-file', '-t', commits.impostor])).toBe('commit')
    await git(['init', '--quiet', '--bare', `${folder}-2`])
    const elsewhere = ['--git-dir', `${folder}-2`, 'fetch', '--quiet', remote('acme/empty'), commits.impostor]
    expect(await gitFailure(elsewhere)).toContain('not our ref')
  })

  test('a missing repository and a private one give an anonymous client the same answer, and a stranger too', async () => {
    for (const name of ['acme/closed', 'acme/nothing', 'nobody/nothing']) {
      expect(await gitFailure(['ls-remote', remote(name)])).toContain('could not read Username')
      expect(await gitFailure(['ls-remote', remote(name)], basic(tokens.bob))).toContain('not found')
    }
    expect(await git(['ls-remote', remote('acme/closed')], basic(tokens.ada))).toContain('refs/heads/main')
    expect(await git(['ls-remote', remote('acme/closed')], basic(tokens.installation))).toContain('refs/heads/main')
    expect(await gitFailure(['ls-remote', remote('acme/closed').replace('//', '//x:ghp_wrong@')])).toContain(
      'Authentication failed',
    )
    expect(github.log.git.map(({ credential }) => credential)).toContain('installation')
  })

  test('a renamed repository redirects git', async () => {
    const before = { owner: repository.owner, name: repository.name }
    github.world.rename(repository, { name: 'instruments' })
    try {
      expect(await git(['ls-remote', remote('acme/tools'), 'HEAD'])).toContain(commits.second)
      expect(await gitFailure(['ls-remote', remote('acme/tools')], { 'http.followRedirects': 'false' })).toContain('301')
    } finally {
      github.world.rename(repository, before)
    }
  })

  test('nothing can be pushed, and old clients are sent away', async () => {
    expect(await statusOf(remote('acme/tools.git/info/refs?service=git-receive-pack'))).toBe(401)
    expect(await statusOf(remote('acme/tools.git/info/refs'))).toBe(403)
    const authorization = `Basic ${Buffer.from(`x:${tokens.ada}`).toString('base64')}`
    const push = await ask(remote('acme/tools.git/info/refs?service=git-receive-pack'), { headers: { authorization } })
    expect(push.status).toBe(403)
  })
})
