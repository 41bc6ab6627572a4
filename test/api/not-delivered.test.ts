import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorMessage } from '#core/errors.ts'
import { message } from '#test/mcp/scene.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const FILES = {
  'SKILLSET.md': '---\nname: Tools\nexclude: [drafts/**, hidden.ts, left-out]\n---\n',
  'docs/guide.md': '# Guide\n',
  'docs/code.ts': 'export const x = 1\n',
  'docs/picture.png': new Uint8Array([0x89, 0x50]),
  'docs/to-code': { link: 'code.ts' },
  'docs/to-folder': { link: '../skills' },
  'docs/to-nowhere': { link: 'gone.md' },
  'docs/to-drafts': { link: '../drafts/plan.md' },
  'docs/left-out': { link: '../src' },
  'docs/through-left-out': { link: 'left-out/deep/main.c' },
  'docs/past-drafts': { link: '../drafts/../docs/guide.md' },
  'docs/through-link': { link: './to-src/../docs/code.ts' },
  'docs/to-disk': { link: '/etc/passwd' },
  'docs/to-src': { link: '../src' },
  'src/deep/main.c': 'int main;\n',
  'docs/to-module': { link: '../module' },
  'docs/hidden.ts': 'export const y = 1\n',
  'drafts/plan.md': '# Plan\n',
  'closed/SKILLSET.md': '---\nname: x\n',
  'closed/inner.ts': 'export const z = 1\n',
  'skills/pdf/SKILL.md': skillText('pdf'),
  module: { submodule: '1'.repeat(40) },
} as const

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/open': { LICENSE: MIT, ...FILES }, 'acme/none': FILES }, { github: { withToken: true } })
  for (const address of ['/local/acme/open', '/local/acme/none', '/gh/acme/open']) await app.open(address)
})
afterAll(() => app.close())

async function errorOf(address: string, path: string) {
  const { status, json } = await app.get(`/api/v1/files${address}?path=${encodeURIComponent(path)}`)
  expect([path, status, json.error?.code]).toEqual([path, 404, 'file.not_found'])
  return json.error
}

const raw = (repository: string, path: string) => `/git/local/${repository}/raw/${app.commitOf(repository)}/${path}`

describe('a path that is there and not delivered', () => {
  test.for([
    ['docs/code.ts', 'there', 'docs/code.ts', 200],
    ['docs/picture.png', 'there', 'docs/picture.png', 200],
    ['docs/to-code', 'link', 'docs/code.ts', 200],
    ['docs/to-folder', 'link', 'docs/to-folder', 200],
    ['docs/to-src/deep/main.c', 'there', 'src/deep/main.c', 200],
    ['docs/to-module', 'link', 'docs/to-module', 200],
    ['docs/to-nowhere', 'link_kept', 'docs/to-nowhere', 404],
    ['docs/to-drafts', 'link_kept', 'docs/to-drafts', 404],
    ['docs/to-disk', 'link_kept', 'docs/to-disk', 404],
    ['module', 'submodule', 'module', 404],
  ] as const)('%s is said to be so: %s, and its original is %s', async ([path, why, original, status]) => {
    const sourceUrl = BASE_URL + raw('acme/open', original)
    const error = { code: 'file.not_found', message: errorMessage(`file.not_found:${why}`), sourceUrl }
    expect(await errorOf('/local/acme/open', path)).toEqual(error)
    expect((await app.get(raw('acme/open', original))).status).toBe(status)
  })

  test('a link says nothing of what is left out on its way', async () => {
    for (const [path, status] of [
      ['docs/to-code', 200],
      ['docs/through-link', 200],
      ['docs/through-left-out', 404],
      ['docs/past-drafts', 404],
    ] as const)
      expect([path, (await app.get(raw('acme/open', path))).status]).toEqual([path, status])
  })

  test('says it where the original is not served either', async () => {
    const error = await errorOf('/local/acme/none', 'docs/code.ts')
    const sourceUrl = BASE_URL + raw('acme/none', 'docs/code.ts')
    expect(error).toEqual({ code: 'file.not_found', message: errorMessage('file.not_found:there_kept'), sourceUrl })
    expect((await app.get(raw('acme/none', 'docs/code.ts'))).status).toBe(404)
  })

  test('leads to a remote host, which serves it', async () => {
    for (const [path, original] of [
      ['docs/code.ts', 'docs/code.ts'],
      ['docs/to-code', 'docs/code.ts'],
      ['docs/to-disk', 'docs/to-disk'],
    ] as const) {
      const { sourceUrl, message } = await errorOf('/gh/acme/open', path)
      expect(sourceUrl).toMatch(new RegExp(`/acme/open/raw/[0-9a-f]{40}/${original}$`))
      expect(message).toBe(errorMessage(path === 'docs/code.ts' ? 'file.not_found:there' : 'file.not_found:link'))
    }
  })

  test('is the same for the tool, which names no original that is not there', async () => {
    for (const path of ['docs/code.ts', 'docs/to-disk']) {
      const call = message('tools/call', { name: 'read_repo_file', arguments: { path } })
      const { result } = (await app.app.inject({ method: 'POST', url: '/mcp/local/acme/open', ...call })).json()
      expect(result.structuredContent.error).toEqual(await errorOf('/local/acme/open', path))
      expect(result.content[0].text.includes('The original is at')).toBe(path === 'docs/code.ts')
    }
  })
})

describe('what a manifest excludes or closes', () => {
  test.for(['drafts', 'drafts/plan.md', 'docs/hidden.ts', 'closed/inner.ts', 'closed/SKILLSET.md', 'docs', 'skills/pdf'])(
    '%s is as a path that does not exist, byte for byte',
    async path => {
      for (const address of ['/local/acme/open', '/local/acme/none', '/gh/acme/open']) {
        const [found, absent] = await Promise.all(
          [path, 'gone.ts'].map(asked => app.app.inject({ url: `/api/v1/files${address}?path=${asked}` })),
        )
        expect([found?.statusCode, found?.body]).toEqual([404, absent?.body])
        expect(found?.body).not.toContain('sourceUrl')
      }
      expect((await app.get(raw('acme/open', path))).status).toBe(404)
    },
  )

  test('so is what lies outside of the mount', async () => {
    const absent = await errorOf('/local/acme/open/docs', 'docs/gone.ts')
    expect(await errorOf('/local/acme/open/skills', 'docs/code.ts')).toEqual(absent)
    expect(await errorOf('/local/acme/open/docs', 'LICENSE')).toEqual(absent)
  })
})
