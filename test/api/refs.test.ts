import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/empty': {}, 'acme/none': { 'a.txt': 'nothing eligible' } })
})
afterAll(() => app.close())

test('the branches and tags of a repository are listed, whatever ref and folder the address names', async () => {
  const repository = app.repository('acme/none')
  const commit = app.commitOf('acme/none')
  await repository.branch('feature/x', commit)
  await repository.tag('v1', commit)
  const refs = {
    defaultBranch: 'main',
    branches: [
      { name: 'feature/x', commit },
      { name: 'main', commit },
    ],
    tags: [{ name: 'v1' }],
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
