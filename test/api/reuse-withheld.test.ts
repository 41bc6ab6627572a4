import { afterEach, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { withoutInstants } from '#test/support/without-instants.ts'

const LICENSE = { 'package.json': '{"license":"MIT"}\n' }
const SECRET = 'zanzibarquartz'
const FILES = {
  ...LICENSE,
  'docs/guide.md': '# Guide\n\nHow to begin.\n',
  'docs/plans.md': `# Plans\n\nFor later.\n\nThe word is ${SECRET}.\n`,
}
const EXCLUDING = { 'SKILLSET.md': '---\nname: tools\ndescription: Tools\nexclude:\n  - docs/plans.md\n---\n' }
const CLOSING = { 'package.json': null, LICENSE: 'All rights reserved.\n' }

let apps: TestApp[] = []

afterEach(async () => {
  for (const app of apps) await app.close()
  apps = []
})

/** Every answer in which the file, its title or its words could be. */
async function answersOf(app: TestApp, address: string): Promise<string[]> {
  const urls = [
    `/api/v1/mounts${address}`,
    `/api/v1/mounts${address}/docs`,
    `/api/v1/browse${address}`,
    `/api/v1/browse${address}?path=docs`,
    `/api/v1/find${address}?query=${SECRET}`,
    `/api/v1/find${address}?query=plans`,
    `/api/v1/files${address}?path=docs/plans.md`,
  ]
  const answers = await Promise.all(urls.map(async url => app.get(url)))
  return answers.map(({ status, body }) => `${status} ${withoutInstants(body)}`)
}

test.each([
  ['an exclusion', EXCLUDING],
  ['a removed license', CLOSING],
])('a text that %s withholds appears nowhere, although the packs of the commit before still hold it', async (_, change) => {
  const app = await testApp({ 'acme/tools': FILES })
  apps.push(app)
  await app.open('/local/acme/tools')
  const file = '/api/v1/files/local/acme/tools?path=docs/plans.md'
  expect((await app.get(file)).body).toContain(SECRET)

  const commit = await app.repository('acme/tools').commit(change)
  const address = `/local/acme/tools@${commit}`
  await app.open(address)
  const told = await answersOf(app, address)
  for (const answer of told) expect(answer.replaceAll(`"query":"${SECRET}"`, '')).not.toContain(SECRET)

  // The same as where nothing was indexed before, and there is nothing to take over.
  const other = await testApp({ 'acme/tools': FILES })
  apps.push(other)
  expect(await other.repository('acme/tools').commit(change)).toBe(commit)
  await other.open(address)
  expect(told).toEqual(await answersOf(other, address))
})
