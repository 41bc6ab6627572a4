import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'README.md': '# First\n' } })
})
afterAll(() => app.close())

test('the commits of many pushes wait as one job, and an address that pins one of them still becomes ready', async () => {
  const first = app.commitOf('acme/tools')
  const statusOf = async (address: string) => {
    const { commit, index } = await app.ask('mounts', address)
    return [commit, index.status]
  }
  expect(await statusOf('/local/acme/tools')).toEqual([first, 'indexing'])
  let last = first
  for (const push of ['Second', 'Third', 'Fourth']) {
    last = await app.repository('acme/tools').commit({ 'README.md': `# ${push}\n` })
    expect(await statusOf('/local/acme/tools')).toEqual([last, 'indexing'])
  }
  expect(await app.index()).toBe(1)
  expect(await statusOf('/local/acme/tools')).toEqual([last, 'ready'])
  expect(await statusOf(`/local/acme/tools@${first}`)).toEqual([first, 'indexing'])
  expect(await app.index()).toBe(1)
  expect(await statusOf(`/local/acme/tools@${first}`)).toEqual([first, 'ready'])
})
