import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { browsePage, commitOf, filePage, findPage, HOSTILE, readyMount, refusal, skillPage, whole } from './support/answers.ts'
import { attributesOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const BASE = 'https://mountglass.example'

describe('a page of an address as Markdown', () => {
  test.each([
    ['by its URL', `${PAGE}?format=markdown`, {}],
    ['by the header', PAGE, { accept: 'text/markdown, text/html;q=0.5' }],
    ['by its place in the header', PAGE, { accept: 'text/markdown, text/html, */*' }],
    ['by its weight', PAGE, { accept: 'text/html;q=0.8, text/markdown;q=0.9, */*;q=0.1' }],
    ['alone', PAGE, { accept: 'Text/Markdown; charset=utf-8; q=0.2' }],
  ])('is asked for %s', async (_, target, requested) => {
    const { get } = await open({})
    const { status, headers, html } = await get(target, 'GET', requested)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'text/markdown; charset=utf-8', vary: expect.stringContaining('accept') })
    expect(html).toContain('# local/acme/tools\n')
    expect(html).toContain(`- [pdf](${BASE}${SKILL}): Reads PDF files.\n`)
  })

  test.each([
    'text/html,application/xhtml+xml,*/*;q=0.8',
    '*/*',
    '',
    'text/html, text/markdown',
    'text/*;q=0.8',
    'text/markdown;q=0, text/html',
    'text/markdown;q=0, */*',
    'text/markdown;q=0.5, text/html',
    'text/markdown;q=0.5, text/*',
    'text/markdown;q=often, text/html;q=0.1',
  ])('is not what a browser gets that accepts %j', async accept => {
    const { get } = await open({})
    const { headers, html } = await get(PAGE, 'GET', { accept })
    expect(headers['content-type']).toContain('text/html')
    expect(attributesOf(html, 'link', 'href')).toContain(`${BASE}${PAGE}?format=markdown`)
  })

  test('of a skill is all of it, in order, character for character', async () => {
    const parts = {
      ruleChain: [{ path: 'SKILLSET.md', content: '# Rules\n', fragment: whole('# Rules\n') }],
      references: ['docs/a.md'],
    }
    const half = { index: 0, offset: 0, length: 5, totalLength: 10, totalBytes: 10, totalTokens: 3, last: false }
    const { get } = await open({
      skills: ({ query }) =>
        query.has('cursor')
          ? skillPage({ body: 'rest\n', bodyFragment: { ...half, index: 1, offset: 5, last: true } })
          : skillPage({ ...parts, body: 'body ', bodyFragment: half }, { complete: false, nextCursor: 'next' }),
    })
    const { html } = await get(`${SKILL}&format=markdown`)
    expect(html).toContain(
      '### rule: SKILLSET.md\n\n~~~\n# Rules\n~~~\n\n### skill: skills/pdf/SKILL.md\n\n~~~\nbody rest\n~~~\n',
    )
    expect(html).toContain('Complete:')
    expect(html).toContain('### References, to be read on demand\n\n- docs/a.md\n')
  })

  test('names the error and keeps its status', async () => {
    const { get } = await open({ mounts: () => refusal('mount.repo_not_found') })
    const { status, html } = await get(`${PAGE}?format=markdown`)
    expect([status, html.split('\n')[0]]).toEqual([404, '# 404 mount.repo\\_not\\_found'.replaceAll('\\', '')])
  })

  test('of folders, searches and states has their content', async () => {
    const { get } = await open({
      browse: () => browsePage({ entries: [{ path: 'docs', kind: 'directory', counts: { skills: 0, documents: 2 } }] }),
      find: () => findPage({ items: [{ kind: 'document', path: 'a.md', title: 'A', summary: 'x' }], nextCursor: 'next' }),
    })
    expect((await get(`${PAGE}?view=browse&format=markdown`)).html).toContain('- folder [docs/](')
    const found = (await get(`${PAGE}?view=find&query=a&format=markdown`)).html
    expect(found).toContain(`- document [A](${BASE}${PAGE}?view=file&path=a.md): x`)
    expect(found).toContain(`[Next page](${BASE}${PAGE}?view=find&query=a&cursor=next)`)
  })

  test('holds hostile names on one line, without markup', async () => {
    const name = `a\n## End\n[x](javascript:y)\u202e${HOSTILE}`
    const skill = {
      path: 'a/SKILL.md',
      directory: 'a',
      name,
      description: name,
      warnings: [],
      translations: {},
      license: { kind: 'open', name: 'MIT', source: null },
    } as const
    const { get } = await open({ mounts: () => readyMount({ skills: [{ ...skill, warnings: [] }] }) })
    const { html } = await get(`${PAGE}?format=markdown`)
    expect(html).not.toMatch(/^## End/m)
    expect(html).toContain('a ## End \\[x\\](javascript:y)[U+202E]'.replace('[U+202E]', '\\[U+202E\\]'))
    expect(html).not.toContain('\u202e')
  })

  test('keeps every text in a fence that the text cannot close', async () => {
    let content = ''
    const { get } = await open({
      mounts: () => readyMount({}, { commit: commitOf(content) }),
      files: () => filePage({ content }),
    })
    const pieces = fc.array(fc.constantFrom('~', '~~~\n', '~~~~~~', '\n', '# x\n', '`', 'a'), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(pieces, async parts => {
        content = parts.join('')
        const { html } = await get(`${PAGE}?view=file&path=docs/guide.md&format=markdown`)
        const [, mark = '', text] = /\n(~{3,})\n([\s\S]*?)\n\1\n$/.exec(html) ?? []
        expect(`${text}\n`).toBe(content.endsWith('\n') ? content : `${content}\n`)
        expect(content).not.toContain(mark)
      }),
      { numRuns: 40 },
    )
  })
})
