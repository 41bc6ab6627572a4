import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/empty': {}, 'acme/none': { 'a.txt': 'nothing eligible' } })
})
afterAll(() => app.close())

test('the branches and tags of a repository are listed, for any ref and folder in the address', async () => {
  const repository = app.repository('acme/none')
  const commit = app.commitOf('acme/none')
  await repository.branch('feature/x', commit)
  await repository.tag('v1', commit)
  await repository.git('tag', '--annotate', '--message=two', 'v2', commit)
  const blob = await repository.git('rev-parse', `${commit}:a.txt`)
  await repository.git('tag', 'text', blob)
  const date = new Date(Number(await repository.git('show', '-s', '--format=%ct', commit)) * 1000)
    .toISOString()
    .replace('.000Z', 'Z')
  const refs = {
    defaultBranch: 'main',
    branches: [
      { name: 'feature/x', commit },
      { name: 'main', commit },
    ],
    tags: [{ name: 'text' }, { name: 'v1', commit, date }, { name: 'v2', commit, date }],
    truncated: false,
  }
  for (const address of ['/local/acme/none', '/local/acme/none@missing/nowhere'])
    expect(await app.ask('refs', address)).toEqual(refs)
  expect(await app.ask('refs', '/local/acme/empty')).toEqual({ ...refs, branches: [], tags: [] })
  expect((await app.get('/api/v1/refs/local/acme/nothing')).json).toMatchObject({ error: { code: 'mount.repo_not_found' } })
})

test('a ready mount has the date of its commit', async () => {
  await app.ask('mounts', '/local/acme/none')
  await app.index()
  const seconds = Number(await app.repository('acme/none').git('show', '-s', '--format=%ct', app.commitOf('acme/none')))
  const { index } = await app.ask('mounts', '/local/acme/none')
  expect(index).toMatchObject({ status: 'ready', committedAt: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z') })
})

test('HEAD, and a ref that is neither a branch nor a tag, cannot be mounted', async () => {
  const repository = await app.repositories.create('acme', 'others')
  const commit = await repository.commit({ 'a.md': '# A\n' })
  const others = ['refs/pull/1/head', 'refs/notes/commits', 'refs/remotes/origin/main', 'refs/stash']
  for (const ref of others) await repository.git('update-ref', ref, commit)
  const names = ['HEAD', ...others, 'pull/1/head', 'remotes/origin/main']
  const mount = (ref: string) => app.get(`/api/v1/mounts/local/acme/others@${encodeURIComponent(ref)}`)
  const answers = () =>
    Promise.all(names.map(async ref => [ref, await mount(ref).then(({ status, json }) => `${status} ${json.error?.code}`)]))
  const none = names.map(ref => [ref, '404 mount.ref_not_found'])
  expect(await answers()).toEqual(none)
  expect((await mount('refs/heads/main')).json.commit).toBe(commit)

  await repository.git('update-ref', '--no-deref', 'HEAD', commit)
  expect(await repository.git('branch', '--show-current')).toBe('')
  expect((await app.ask('mounts', '/local/acme/others')).commit).toBe(commit)
  expect(await answers()).toEqual(none)
})
