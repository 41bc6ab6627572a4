import { STATUS_CODES } from 'node:http'
import { describe, expect, test } from 'vitest'
import { IndexStage } from '#core/contract/shared.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { DE as de } from '#words/de/de.ts'
import { EN as en } from '#words/en/en.ts'
import { type Answers, COMMIT, ERROR_CODES, filePage, readyMount, refusal, skillPage } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

describe('states', () => {
  test.each(['', '?view=browse', '?view=find&query=x', '?view=skill&path=a/SKILL.md'])(
    'an index being made is waited for%s',
    async query => {
      const indexing = { status: 'indexing' as const, commit: COMMIT }
      const { get } = await open({
        mounts: () => readyMount({}, { index: { status: 'indexing' } }),
        browse: () => indexing,
        find: () => indexing,
        skills: () => indexing,
      })
      const { status, html } = await get(PAGE + query)
      expect(status).toBe(200)
      expect(textOf(html)).toContain('This commit is being indexed')
      expect(attributesOf(html, 'meta', 'http-equiv')).toEqual(['refresh'])
    },
  )

  test.each(IndexStage.options)('the page names the stage of the job: %s', async stage => {
    const { get } = await open({ mounts: () => readyMount({}, { index: { status: 'indexing', stage } }) })
    for (const [query, words] of Object.entries({ '': en, '?lang=de': de })) {
      const { html } = await get(PAGE + query)
      const current = /<li[^>]*aria-current="step"[^>]*>([^<]+)</.exec(html)?.[1]
      expect(current).toBe(words.state.stages[stage])
      expect(html.match(/<li class="done"/g)).toHaveLength(IndexStage.options.indexOf(stage) + 1)
    }
  })

  test('a long stage shows its progress, in both languages', async () => {
    const progress = { done: 1_200, total: 15_000 }
    const { get } = await open({ mounts: () => readyMount({}, { index: { status: 'indexing', stage: 'content', progress } }) })
    expect(textOf((await get(PAGE)).html)).toContain('Reading skills and documents 1,200 of 15,000 files Writing')
    expect(textOf((await get(`${PAGE}?lang=de`)).html)).toContain('Liest Skills und Dokumente 1.200 von 15.000 Dateien Schreibt')
  })

  test('a job without a stage waits for its turn', async () => {
    const { get } = await open({ mounts: () => readyMount({}, { index: { status: 'indexing' } }) })
    const { html } = await get(PAGE)
    expect(/<li[^>]*aria-current="step"[^>]*>([^<]+)</.exec(html)?.[1]).toBe(en.state.stages.wait)
  })

  test('after a minute the page says that indexing takes long, and reloads less often', async () => {
    const { get } = await open({ mounts: () => readyMount({}, { index: { status: 'indexing', stage: 'content' } }) })
    const { html } = await get(`${PAGE}?since=${Date.now() - 61_000}`)
    expect(textOf(html)).toContain(en.state.stillAbout)
    expect(attributesOf(html, 'meta', 'content').some(content => content.startsWith('10;'))).toBe(true)
  })

  test('a file requested before the index is ready keeps its 503 and reloads', async () => {
    const { get } = await open({
      mounts: () => readyMount({}, { index: { status: 'indexing' } }),
      files: () => refusal('index.indexing', { retryAfter: 1 }),
    })
    const { status, html } = await get(`${PAGE}?view=file&path=a.md`)
    expect(status).toBe(503)
    expect(attributesOf(html, 'meta', 'http-equiv')).toEqual(['refresh'])
  })

  test('a failed index shows its code and the time of the retry', async () => {
    const { get } = await open({
      mounts: () =>
        readyMount({}, { index: { status: 'failed', errorCode: 'index.too_large', retryAt: '2026-03-04T05:06:07Z' } }),
    })
    const { status, html } = await get(PAGE)
    expect(status).toBe(200)
    expect(textOf(html)).toContain('2026-03-04 05:06 UTC')
    expect(html).toContain('data-code="index.too_large"')
    expect(textOf(html)).not.toContain('index.too_large')
    expect(attributesOf(html, 'meta', 'http-equiv')).toEqual([])
  })

  test.each([
    ['index.fetch_failed', []],
    ['index.too_large', ['/docs/limits', '/docs/manifest-keys']],
    ['index.timeout', []],
    ['index.manifests_unreadable', ['/docs/limits', '/docs/manifest-keys']],
    ['index.internal', []],
  ] as const)(
    'after %s the page links other refs and the host for a visitor, and the fix for an author',
    async (errorCode, docs) => {
      const mounts = () =>
        readyMount(
          {},
          { address: '/gh/acme/tools/docs', index: { status: 'failed', errorCode, retryAt: '2026-03-04T05:06:07Z' } },
        )
      const { get } = await open({ mounts }, { hosts: ['gh'], hostUrls: { gh: 'https://github.example' } })
      for (const words of [en, de]) {
        const { html } = await get('/gh/acme/tools/docs', 'GET', { 'accept-language': words === de ? 'de' : 'en' })
        const main = html.slice(html.indexOf('<main'), html.indexOf('</main'))
        expect(textOf(main)).toContain(words.state.reasons[errorCode])
        const links = attributesOf(main, 'a', 'href')
        expect(links).toEqual(
          expect.arrayContaining(['/gh/acme/tools/docs?view=refs', `https://github.example/acme/tools/tree/${COMMIT}/docs`]),
        )
        expect(links.filter(href => href.startsWith('/docs/'))).toEqual(docs)
      }
    },
  )

  test('a local repository that a job cannot read may be damaged, and was never fetched', async () => {
    const failed = { status: 'failed', errorCode: 'index.fetch_failed', retryAt: '2026-03-04T05:06:07Z' } as const
    const { get } = await open({ mounts: () => readyMount({}, { index: failed }) })
    for (const words of [en, de]) {
      const { html } = await get(PAGE, 'GET', { 'accept-language': words === de ? 'de' : 'en' })
      expect(textOf(html)).toContain(words.state.unread)
      expect(textOf(html)).toContain('git fsck')
      expect(textOf(html)).not.toContain(words.state.reasons['index.fetch_failed'])
    }
  })

  test.each(ERROR_CODES)('%s keeps its status, of the address and of a view', async code => {
    const { get } = await open({
      mounts: ({ address }) => (address.includes('gone') ? refusal(code) : readyMount()),
      browse: () => refusal(code),
    })
    for (const target of ['/local/acme/gone', `${PAGE}?view=browse&path=x`]) {
      const { status, reason, html } = await get(target)
      expect([status, reason]).toEqual([ERROR_STATUS[code], STATUS_CODES[ERROR_STATUS[code]]])
      if (code !== 'index.indexing' || !target.startsWith(PAGE)) {
        expect(html).toContain(`data-code="${code}"`)
        expect(html).toContain(`data-code="${code}"`)
        expect(textOf(html)).not.toContain(code)
        expect(attributesOf(html.slice(html.indexOf('id="what-next"')), 'a', 'href').length).toBeGreaterThan(0)
      }
    }
  })

  test('the wait that a host asks for is passed on', async () => {
    const { get } = await open({ mounts: () => refusal('mount.rate_limited', { retryAfter: 42 }) })
    const { headers, html } = await get(PAGE)
    expect(headers['retry-after']).toBe('42')
    expect(textOf(html)).toContain('The git host limits the rate of requests. Wait 42 seconds, then try again.')
  })

  test('a host that names no wait gets the usual one', async () => {
    const { get } = await open({ mounts: () => refusal('mount.unavailable') })
    const { headers, html } = await get(PAGE)
    expect(headers['retry-after']).toBeUndefined()
    expect(textOf(html).match(/try again/gi)).toEqual(['try again'])
  })

  test.each([
    ['skills/pdf/SKILL.md', { skills: () => skillPage() }, 'skill'],
    ['docs/guide.md', { files: () => filePage() }, 'file'],
    ['big.csv', { files: () => refusal('file.too_large', { sourceUrl: 'https://host.example/big' }) }, 'file'],
  ] satisfies [string, Answers, string][])(
    'an address that ends at %s is no folder, and links the existing file',
    async (path, answers, view) => {
      const { get } = await open({ mounts: () => refusal('mount.path_not_found'), ...answers })
      const location = `${PAGE}@v1?view=${view}&path=${path}`
      expect(await get(`${PAGE}@v1/${path}`)).toMatchObject({ status: 302, headers: { location } })
      const inGerman = await get(`${PAGE}@v1/${path}?lang=de&format=markdown`)
      expect(inGerman.headers.location).toBe(`${location}&format=markdown&lang=de`)
    },
  )

  test('while a host is down, the page links to itself and to a local repository of the same name', async () => {
    const listLocal = async () => ['/local/Acme/Tools', '/local/acme/other']
    const { get } = await open({ mounts: () => refusal('mount.unavailable') }, { hosts: ['gh', 'local'], listLocal })
    const links = attributesOf((await get('/gh/acme/tools@v1/docs')).html, 'a', 'href')
    expect(links).toEqual(expect.arrayContaining(['/gh/acme/tools@v1/docs', '/local/Acme/Tools']))
    expect(links).not.toContain('/local/acme/other')
  })

  test('indexing of more than a minute is announced, and its URL is the usual one afterwards', async () => {
    let isReady = false
    const { get } = await open({ mounts: () => (isReady ? readyMount() : readyMount({}, { index: { status: 'indexing' } })) })
    const first = await get(`${PAGE}?view=overview`)
    const href =
      /url=(.*)$/.exec(attributesOf(first.html, 'meta', 'content').find(content => content.includes('url=')) ?? '')?.[1] ?? ''
    expect(href).toMatch(/^\/local\/acme\/tools\?view=overview&since=\d{13}$/)
    expect(textOf((await get(href)).html)).toContain('usually takes a few seconds')
    const late = href.replace(/\d{13}$/, String(Date.now() - 61_000))
    expect(textOf((await get(late)).html)).toContain('Still indexing')
    isReady = true
    expect(await get(late)).toMatchObject({ status: 302, headers: { location: `${PAGE}?view=overview` } })
  })

  test('the kind of a pasted URL is shown', async () => {
    const { get } = await open({})
    expect(textOf((await get(`${PAGE}?opened=pull`)).html)).toContain('The URL was that of a pull request')
    expect(textOf((await get(`${PAGE}?opened=constructor`)).html)).not.toContain('The URL was')
  })

  test('an address that ends at nothing links no file', async () => {
    const { get } = await open({ mounts: () => refusal('mount.path_not_found'), files: () => refusal('file.not_found') })
    expect((await get(`${PAGE}/nothing`)).html).not.toContain('view=file')
  })

  test('a cursor that is no longer valid leads back to the first page', async () => {
    const { get } = await open({ browse: () => refusal('request.invalid') })
    const { status, html } = await get(`${PAGE}?view=browse&path=a&cursor=old`)
    expect(status).toBe(400)
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=browse&path=a`)
    expect(textOf(html)).toContain('Start again from the first page')
  })

  test('a view that does not exist is refused, and the overview is one link away', async () => {
    const { get } = await open({})
    const { status, html } = await get(`${PAGE}?view=nonsense`)
    expect(status).toBe(400)
    expect(textOf(html)).toContain(en.errorPage.noView)
    expect(textOf(html)).not.toContain('diagnostics')
    expect(attributesOf(html, 'a', 'href')).toEqual(expect.arrayContaining([PAGE, `${PAGE}?view=browse`, `${PAGE}?view=changes`]))
  })

  test('an API that breaks its contract gives a plain page', async () => {
    const { get } = await open({
      mounts: () => {
        throw new Error('down')
      },
    })
    const { status, html } = await get(PAGE)
    expect(status).toBe(500)
    expect(textOf(html)).toContain('This page could not be rendered.')
    expect(html).not.toContain('down')
  })
})
