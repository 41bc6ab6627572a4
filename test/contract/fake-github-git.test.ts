import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { basic, openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, work, tools, repository, commits, tokens, ask, statusOf, git, gitFailure } = scene

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

  test('refs that moved, appeared or disappeared are reported at once, loose or packed', async () => {
    const listed = async () => (await git(['ls-remote', remote('acme/tools'), 'refs/heads/new', 'HEAD'])).split('\n')
    const head = `${commits.second}\tHEAD`
    expect(await listed()).toEqual([head])
    await tools.branch('new', commits.first)
    expect(await listed()).toEqual([head, `${commits.first}\trefs/heads/new`])
    await tools.branch('new', commits.second)
    expect(await listed()).toEqual([head, `${commits.second}\trefs/heads/new`])
    await tools.git('pack-refs', '--all')
    await tools.git('update-ref', 'refs/heads/new', commits.first)
    await tools.git('pack-refs', '--all')
    expect(await listed()).toEqual([head, `${commits.first}\trefs/heads/new`])
    await tools.git('update-ref', '-d', 'refs/heads/new')
    expect(await listed()).toEqual([head])
  })

  test('the older protocol is answered too', async () => {
    expect(await git(['ls-remote', remote('acme/tools'), 'refs/heads/main'], { 'protocol.version': '0' })).toContain(
      commits.second,
    )
  })

  test('a shallow clone', async () => {
    const folder = join(work, 'clone')
    await git(['clone', '--quiet', '--depth', '1', remote('acme/tools'), folder])
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('two\n')
    expect(await git(['-C', folder, 'rev-list', '--count', 'HEAD'])).toBe('1')
  })

  test('trees first, then the wanted blobs by their ids in one request', async () => {
    const folder = join(work, 'partial.git')
    await git(['init', '--quiet', '--bare', folder])
    const lazy = {
      'remote.origin.url': remote('acme/tools'),
      'remote.origin.promisor': 'true',
      'remote.origin.partialclonefilter': 'blob:none',
    }
    for (const [key, value] of Object.entries(lazy)) await git(['--git-dir', folder, 'config', key, value])
    const fetching = ['--git-dir', folder, 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--filter=blob:none']
    await git([...fetching, '--depth', '1', 'origin', commits.second])
    const missing = async () =>
      (await git(['--git-dir', folder, 'rev-list', '--objects', '--missing=print', '-n1', commits.second])).match(/^\?/gm)
        ?.length ?? 0
    expect(await missing()).toBe(5)
    const blobs = await Promise.all(['README.md', 'version.txt'].map(path => tools.oidAt(commits.second, path)))
    await git([...fetching, 'origin', ...blobs], { 'fetch.negotiationAlgorithm': 'noop' })
    expect(await missing()).toBe(3)
    const fetches = github.log.git.filter(record => record.git?.command === 'fetch').map(record => record.git)
    expect(fetches).toMatchObject([
      { wants: 1, filter: 'blob:none', depth: 1 },
      { wants: 2, filter: 'blob:none', haves: 0 },
    ])
    expect(github.log.git.every(({ status, bytesOut }) => status === 200 && bytesOut > 0)).toBe(true)
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

  test('a compressed request is read', async () => {
    const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
    const answer = await fetch(remote('acme/tools.git/git-upload-pack'), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'content-encoding': 'gzip',
        'git-protocol': 'version=2',
      },
      body: gzipSync(`${line('command=ls-refs\n')}0001${line('ref-prefix refs/heads/main\n')}0000`),
    })
    expect(await answer.text()).toContain(`${commits.second} refs/heads/main`)
  })

  test('an empty repository is cloned as empty', async () => {
    expect(await git(['ls-remote', remote('acme/empty')])).toBe('')
  })
})
