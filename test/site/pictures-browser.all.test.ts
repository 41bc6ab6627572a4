import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { plainPicture } from '#test/support/pictures.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ensureBuilt } from './support/built-site.ts'

const FILES = {
  'SKILLSET.md': '---\nname: Tools\ndescription: What we use.\nimage: cover.png\n---\n',
  'cover.png': await plainPicture('png', 800, 400),
  'a/SKILL.md': '---\nname: a\ndescription: A.\nlicense: MIT\n---\nDo it.\n',
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  let at: TestApp
  let origin: string

  beforeAll(async () => {
    await ensureBuilt()
    at = await testApp(
      { 'acme/tools': FILES },
      {
        github: { withToken: false },
        site: async app =>
          void (await app.register(sitePlugin, {
            client: createApiClient(injectTransport(app)),
            baseUrl: 'https://mountglass.test',
            hosts: ['local', 'gh'],
            rendering: PATIENT_RENDERING,
          })),
      },
    )
    await at.app.listen({ host: '127.0.0.1', port: 0 })
    origin = `http://127.0.0.1:${(at.app.server.address() as AddressInfo).port}`
    await at.open('/gh/acme/tools')
  })
  afterAll(() => at?.close())

  test('a page of another origin shows badge, card and icon', async () => {
    const paths = ['/badge/gh/acme/tools', '/social/gh/acme/tools', '/icon/gh/acme/tools', '/badge/gh/acme/nothing']
    const html = `<!doctype html><title>t</title>${paths.map(path => `<img src="${origin}${path}">`).join('')}`
    // An origin that embeds only what says that it may be embedded.
    const headers = { 'content-type': 'text/html', 'cross-origin-embedder-policy': 'require-corp' }
    const server = createServer((_request, response) => response.writeHead(200, headers).end(html))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { waitUntil: 'networkidle' })
      const sizes = await page.evaluate(() =>
        [...document.images].map(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight]),
      )
      expect(sizes).toEqual([
        [expect.any(Number), 20],
        [1200, 630],
        [128, 128],
        [0, 0],
      ])
      expect(sizes[0]?.[0]).toBeGreaterThan(100)
    } finally {
      await browser.close()
      server.close()
    }
  })

  test("the page of an account and of a repository show the owner's picture, from this origin alone", async () => {
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const asked: string[] = []
      page.on('request', request => asked.push(new URL(request.url()).origin))
      for (const path of ['/owners/gh/acme', '/gh/acme/tools']) {
        await page.goto(`${origin}${path}`, { waitUntil: 'networkidle' })
        const widths = await page.evaluate(() =>
          [...document.querySelectorAll('.mount-title img')].map(image => (image as HTMLImageElement).naturalWidth),
        )
        expect(widths, path).toEqual([128])
      }
      expect(new Set(asked)).toEqual(new Set([origin]))
    } finally {
      await browser.close()
    }
  })
})
