import { appendFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorMessage } from '#core/errors.ts'
import { message } from '#test/mcp/scene.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const FILES = { 'package.json': '{"license":"MIT"}', 'docs/a.md': '# A\n' }

let app: TestApp
let commitOfDamaged: string
beforeAll(async () => {
  const names = ['branches', 'tags', 'default', 'sha256', 'closed', 'damaged', '.github', '.github-private']
  const contents = { ...Object.fromEntries(names.map(name => [`acme/${name}`, FILES])), 'acme/empty': {} }
  app = await testApp(contents, { github: { withToken: true } })
  const commit = app.commitOf('acme/branches')
  await app.repository('acme/branches').branch('feature/x', commit)
  await app.repository('acme/branches').branch('team/a/b', commit)
  await app.repository('acme/branches').tag('1234567/x', commit)
  await app.repository('acme/tags').tag('v1', app.commitOf('acme/tags'))
  await app.repository('acme/tags').git('update-ref', '-d', 'refs/heads/main')
  await app.repository('acme/default').setDefaultBranch('master')
  for (const name of ['sha256', 'closed']) {
    const { gitDir } = app.repository(`acme/${name}`)
    await appendFile(join(gitDir, 'config'), '[extensions]\n\tobjectFormat = sha256\n')
  }
  commitOfDamaged = app.commitOf('acme/damaged')
  await app.repository('acme/damaged').tag('v1', app.commitOf('acme/damaged'))
  await removeObjects(app.repository('acme/damaged').gitDir)
  await writeFile(join(app.repository('acme/closed').gitDir, 'mountglass-private'), '')
})
afterAll(() => app.close())

async function removeObjects(gitDir: string): Promise<void> {
  const objects = join(gitDir, 'objects')
  for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true })
}

describe('the error of a ref that does not exist', () => {
  test.each([
    ['/local/acme/branches@feature/x', 'mount.ref_not_found:slash'],
    ['/local/acme/branches@feature/x/docs', 'mount.ref_not_found:slash'],
    ['/local/acme/branches@team/a/b/docs', 'mount.ref_not_found:slash'],
    ['/local/acme/branches@refs/heads/main', 'mount.ref_not_found:slash'],
    ['/local/acme/branches@1234567/x', 'mount.ref_not_found:slash'],
    ['/local/acme/branches@1234567/docs', 'mount.ref_not_found:shortened'],
    ['/local/acme/branches@1234567', 'mount.ref_not_found:shortened'],
    ['/local/acme/tags', 'mount.ref_not_found:tags'],
    ['/local/acme/default', 'mount.ref_not_found:default'],
    ['/gh/acme/branches@feature/x', 'mount.ref_not_found:slash'],
  ] as const)('of %s names the cause: %s', async (address, key) => {
    const { status, json } = await app.get(`/api/v1/mounts${address}`)
    expect([status, json.error]).toEqual([404, { code: 'mount.ref_not_found', message: errorMessage(key) }])
    const call = message('tools/call', { name: 'browse_repo', arguments: { address: address.slice(1) } })
    const tool = await app.app.inject({ method: 'POST', url: '/mcp', ...call })
    expect(tool.json().result.structuredContent).toEqual(json)
  })

  test.each(['/local/acme/branches@feature', '/local/acme/branches@nothing/x', '/gh/acme/branches@nothing'])(
    'of %s equals that of every other one',
    async address => {
      const { error } = (await app.get(`/api/v1/mounts${address}`)).json
      expect(error).toEqual({ code: 'mount.ref_not_found', message: errorMessage('mount.ref_not_found') })
    },
  )

  test.each(['/local/acme/empty', '/local/acme/empty@v9', '/local/acme/empty@v9/docs', '/gh/acme/empty'])(
    'of %s says that the repository is empty',
    async address => {
      const { status, json } = await app.get(`/api/v1/mounts${address}`)
      const message = errorMessage('mount.ref_not_found:empty')
      expect([status, json.error]).toEqual([404, { code: 'mount.ref_not_found', reason: 'empty', message }])
    },
  )

  test('has the known refs', async () => {
    expect(await app.ask('refs', '/local/acme/default')).toMatchObject({ defaultBranch: 'master', branches: [{ name: 'main' }] })
    expect(await app.ask('refs', '/local/acme/tags')).toMatchObject({ branches: [], tags: [{ name: 'v1' }] })
  })
})

describe('a repository that lacks the objects which its refs name', () => {
  const damaged = { code: 'mount.unavailable', reason: 'damaged', message: errorMessage('mount.unavailable:damaged') }

  test('is damaged, whatever ref is named', async () => {
    for (const ref of ['', '@main', '@v1', `@${commitOfDamaged}`]) {
      const { status, json } = await app.get(`/api/v1/mounts/local/acme/damaged${ref}`)
      expect([ref, status, json.error]).toEqual([ref, 503, damaged])
    }
    for (const endpoint of ['browse', 'find', 'files', 'skills']) {
      const query = endpoint === 'find' ? '?query=x' : endpoint === 'browse' ? '' : '?path=a.md'
      expect((await app.get(`/api/v1/${endpoint}/local/acme/damaged${query}`)).json.error).toEqual(damaged)
    }
  })

  test('has refs that do not exist, as any other', async () => {
    const { status, json } = await app.get('/api/v1/mounts/local/acme/damaged@v9')
    expect([status, json.error]).toEqual([404, { code: 'mount.ref_not_found', message: errorMessage('mount.ref_not_found') }])
  })
})

describe('a repository of the object format SHA-256', () => {
  test('is reported as such, and not as empty', async () => {
    for (const address of ['/local/acme/sha256', '/local/acme/sha256@main', `/local/acme/sha256@${'a'.repeat(40)}`])
      for (const endpoint of ['mounts', 'refs']) {
        const { status, json } = await app.get(`/api/v1/${endpoint}${address}`)
        expect([status, json.error]).toEqual([
          403,
          { code: 'mount.not_allowed', message: errorMessage('mount.not_allowed:sha256') },
        ])
      }
  })

  test('that is private is indistinguishable from a missing one', async () => {
    const [closed, nothing] = await Promise.all(['closed', 'never'].map(name => app.get(`/api/v1/mounts/local/acme/${name}`)))
    expect([closed?.status, closed?.json]).toEqual([nothing?.status, nothing?.json])
  })

  test('is served after its replacement by a supported one', async () => {
    const { gitDir } = app.repository('acme/closed')
    await rm(join(gitDir, 'mountglass-private'))
    await writeFile(join(gitDir, 'config'), '[core]\n\tbare = true\n')
    await app.open('/local/acme/closed')
  })
})

test.each(['.github', '.github-private'])('a local repository may be called %s, as at GitHub', async name => {
  await app.open(`/local/acme/${name}`)
  expect((await app.ask('mounts', `/local/acme/${name}/docs`)).repository.name).toBe(name)
})

test.each(['..', '.', '.git', 'x.git', '%2e%2e', '.dotfiles', '.github.git'])('a ref cannot be called %s', async name => {
  const { status, json } = await app.get(`/api/v1/mounts/local/acme/${name}`)
  expect([status, json.error.code.startsWith('address.')]).toEqual([400, true])
})
