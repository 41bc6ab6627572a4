import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { message } from '#test/mcp/scene.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'

/*
 * A commit to which no branch, tag or HEAD leads any more is published no longer. Its hash is answered as one that never was, whatever was
 * kept of it: tags of answers and pages (decision 0039). The files of refs are looked at for every request, so
 * no time passes until then.
 */

const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'one/SKILL.md': '---\nname: one\ndescription: The passing one.\n---\nDo the passing thing.\n',
}
/** What only the texts of the commit say. */
const SHOWN = /the passing (?:one|thing)/i

let app: TestApp
let origin: string
let commit: CommitSha
beforeAll(async () => {
  await ensureBuilt()
  app = await testApp(
    { 'acme/tools': { 'README.md': '# Tools\n' } },
    {
      site: async instance => {
        const client = createApiClient(injectTransport(instance))
        await instance.register(sitePlugin, { client, baseUrl: BASE_URL, hosts: ['local'], rendering: PATIENT_RENDERING })
      },
    },
  )
  commit = await app.repository('acme/tools').commit(FILES, { branch: 'passing' })
  // The object stays until git collects it.
  await app.repository('acme/tools').git('update-ref', 'refs/pull/1/head', commit)
  origin = await app.app.listen({ host: '127.0.0.1', port: 0 })
  await app.open(`/local/acme/tools@${commit}`)
})
afterAll(() => app.close())

const routes = (address: string) => [
  `/api/v1/mounts${address}`,
  `/api/v1/browse${address}?path=one`,
  `/api/v1/find${address}?query=passing`,
  `/api/v1/skills${address}?path=one/SKILL.md`,
  `/api/v1/files${address}?path=one/SKILL.md`,
]
const pages = (address: string) =>
  ['', '?view=skill&path=one/SKILL.md', '?view=file&path=one/SKILL.md'].map(query => address + query)
const TOOLS = [
  { name: 'browse_repo', arguments: {} },
  { name: 'search_repo', arguments: { query: 'passing' } },
  { name: 'load_skill', arguments: { path: 'one/SKILL.md' } },
  { name: 'read_repo_file', arguments: { path: 'one/SKILL.md' } },
]

const send = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(origin + url, init)
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: await answer.text() }
}
const conditional = (url: string, etag: string) => send(url, { headers: { 'if-none-match': etag } })
const call = (address: string, tool: (typeof TOOLS)[number]) => {
  const { headers, payload } = message('tools/call', tool)
  return send(`/mcp${address}`, { method: 'POST', headers, body: payload })
}
const codeOf = (body: string) => /"code":"([a-z._]+)"/.exec(body)?.[1]

/** Ways in which the last ref of the commit goes, and comes back. */
const git = (...args: string[]) => app.repository('acme/tools').git(...args)
const branch = (oid: string) => app.repository('acme/tools').branch('passing', oid)
const WAYS: [string, remove: () => Promise<unknown>, restore: () => Promise<unknown>][] = [
  ['its branch was deleted', () => git('branch', '-D', 'passing'), () => branch(commit)],
  ['its branch was moved by force', () => branch(app.commitOf('acme/tools')), () => branch(commit)],
  ['its tag was deleted', () => git('tag', '-d', 'v1'), () => git('tag', 'v1', commit)],
]

test.for(WAYS)('a pinned commit is missing once %s, and the same again once it is back', async ([, remove, restore]) => {
  const address = `/local/acme/tools@${commit}`
  await git('update-ref', '-d', 'refs/heads/passing')
  await restore()
  const shown = await Promise.all([...routes(address), ...pages(address)].map(async url => ({ url, ...(await send(url)) })))
  const called = await Promise.all(TOOLS.map(tool => call(address, tool)))
  const tagged = shown.filter(({ etag }) => etag !== '')
  const isSame = async () => {
    for (const { url, body } of shown) expect([url, await send(url)]).toMatchObject([url, { status: 200, body }])
    for (const { url, etag } of tagged) expect([url, (await conditional(url, etag)).status]).toEqual([url, 304])
    for (const [at, tool] of TOOLS.entries()) expect(await call(address, tool)).toEqual(called[at])
  }
  expect(tagged.map(({ url }) => url)).toEqual(routes(address))
  for (const { body } of [...shown, ...called]) expect(body).toMatch(SHOWN)
  await isSame()

  await remove()
  for (const url of routes(address)) {
    const { status, body } = await send(url)
    expect([url, status, codeOf(body)]).toEqual([url, 404, 'mount.ref_not_found'])
  }
  for (const { url, etag } of tagged) expect([url, (await conditional(url, etag)).status]).toEqual([url, 404])
  for (const url of pages(address)) {
    const { status, body } = await send(url)
    expect([url, status, SHOWN.test(body)]).toEqual([url, 404, false])
  }
  for (const tool of TOOLS) {
    const { body } = await call(address, tool)
    expect(body).toContain('mount.ref_not_found')
    expect(body).not.toMatch(SHOWN)
  }

  await restore()
  await isSame()
})
