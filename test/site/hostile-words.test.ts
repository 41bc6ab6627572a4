import { describe, expect, test } from 'vitest'
import {
  type Answers,
  browsePage,
  filePage,
  findPage,
  HOSTILE,
  readyMount,
  refusal,
  skillPage,
  whole,
} from './support/answers.ts'
import { attributesOf, dangersOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

describe('hostile words', () => {
  const listing = { path: `${HOSTILE}/SKILL.md`, directory: HOSTILE, name: HOSTILE, description: HOSTILE }
  const license = { kind: 'open', name: HOSTILE, source: HOSTILE } as const
  const manifest = {
    path: HOSTILE,
    name: HOSTILE,
    description: HOSTILE,
    language: '"><script>',
    translations: { [HOSTILE]: { name: HOSTILE } },
  }
  const diagnostics = [
    { code: HOSTILE, severity: 'error' as const, path: HOSTILE, boundary: HOSTILE, field: HOSTILE, message: HOSTILE },
  ]
  const warnings = [{ code: HOSTILE, level: 'look' as const, field: HOSTILE, message: HOSTILE }]
  const document = { path: HOSTILE, title: HOSTILE, summary: HOSTILE }
  const body = `${HOSTILE}\n\n[x](javascript:alert(1)) ![x](http://evil.example/x.png) <iframe src=//evil.example>\n\n<style>*{}</style>\n\n# ${HOSTILE}\n\n|a|\n|:-:|\n|${HOSTILE}|\n`
  const answers: Answers = {
    mounts: () =>
      readyMount({
        manifest,
        license,
        skills: [{ ...listing, warnings, translations: {}, license, describedOnly: true }],
        documents: [document],
        diagnostics,
      }),
    browse: () =>
      browsePage({
        path: HOSTILE,
        overview: { path: HOSTILE, title: HOSTILE, description: HOSTILE },
        entries: [
          {
            path: HOSTILE,
            kind: 'directory',
            counts: { skills: 1, documents: 1 },
            manifest,
            overviewPath: HOSTILE,
            skill: { ...listing, translations: {} },
            license,
          },
          { path: HOSTILE, kind: 'file', size: 1, title: HOSTILE },
        ],
        diagnostics,
        nextCursor: HOSTILE,
      }),
    find: () =>
      findPage({
        query: HOSTILE,
        items: [
          { kind: 'skill', ...listing, translations: {}, license, files: [document], moreFiles: 1 },
          { kind: 'document', ...document },
        ],
        diagnostics,
        nextCursor: HOSTILE,
      }),
    skills: () =>
      skillPage(
        {
          ...listing,
          warnings,
          frontMatter: { [HOSTILE]: HOSTILE, list: [HOSTILE], map: { [HOSTILE]: HOSTILE } },
          translations: { [HOSTILE]: { name: HOSTILE } },
          serving: { license, full: true, sourceUrl: `javascript:${HOSTILE}` },
          ruleChain: [{ path: `${HOSTILE}.md`, content: body, fragment: whole(body) }],
          body,
          bodyFragment: whole(body),
          includes: [{ path: `${HOSTILE}.md`, content: body, fragment: whole(body) }],
          files: [HOSTILE],
          references: [HOSTILE],
          oversized: [{ path: HOSTILE, size: 1, sourceUrl: `javascript:${HOSTILE}` }],
        },
        { complete: false, nextCursor: HOSTILE, diagnostics },
      ),
    files: () => filePage({ path: `${HOSTILE}.md`, content: body, nextOffset: 5, totalLength: 999 }),
  }

  test.each([
    '',
    '?view=browse',
    '?view=find&query=x',
    '?view=skill&path=x',
    '?view=skill&path=x&look=rendered',
    '?view=file&path=x',
    '?view=file&path=x&look=rendered',
  ])('stay words on the page%s', async query => {
    const { get } = await open(answers)
    const { status, html } = await get(PAGE + query)
    expect(status).toBe(200)
    expect(html).toContain('alert(1)')
    expect(dangersOf(html)).toEqual([])
    expect(attributesOf(html, 'a', 'href').filter(href => /^(?!\/(?!\/)|[#?])/.test(href))).toEqual([])
    // An override of the writing direction stands nowhere but inside its own mark.
    expect(html.replace(/<bdi class="hidden-character"[^>]*>[^<]*<\/bdi>/g, '')).not.toContain('\u202e')
  })

  test('of an error and of a request stay words too', async () => {
    const { get } = await open({ skills: () => refusal('skill.ambiguous', { directories: [HOSTILE] }) })
    const word = encodeURIComponent(HOSTILE)
    for (const target of [
      `${PAGE}?view=skill&path=${word}`,
      `${PAGE}?view=find&path=${word}`,
      `/local/${word}`,
      `/open?address=${word}`,
      `/${word}`,
    ]) {
      expect(dangersOf((await get(target)).html)).toEqual([])
    }
  })
})
