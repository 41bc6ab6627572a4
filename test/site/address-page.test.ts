import { STATUS_CODES } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { ERROR_STATUS } from '#core/errors.ts'
import {
  type Answers,
  browsePage,
  COMMIT,
  ERROR_CODES,
  filePage,
  findPage,
  HOSTILE,
  type Question,
  readyMount,
  refusal,
  skillPage,
  whole,
} from './support/answers.ts'
import { attributesOf, dangersOf, exactTextsOf, textOf, titleOf } from './support/html.ts'
import { openSite, type Site, type SiteSettings } from './support/site.ts'

const PAGE = '/local/acme/tools'
const OPEN = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const SKILL = `${PAGE}?view=skill&path=skills/pdf/SKILL.md`

let site: Site | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

async function open(answers: Answers, settings?: SiteSettings): Promise<Site> {
  site = await openSite({ mounts: () => readyMount(), ...answers }, settings)
  return site
}

describe('a repository that has another name at its host', () => {
  const moved = { mounts: () => readyMount({}, { address: '/gh/Moved/Kit@v1/docs' }) }

  test.each([
    ['/gh/acme/tools@v1/docs', '/gh/Moved/Kit@v1/docs'],
    ['/gh/moved/kit@feature%2Fx/a%20b', '/gh/Moved/Kit@feature%2Fx/a%20b'],
    ['/gh/acme/tools@v1/docs?view=file&path=docs/a+b.md', '/gh/Moved/Kit@v1/docs?view=file&path=docs%2Fa+b.md'],
  ])('sends %s on to where it is', async (asked, location) => {
    const { get } = await open(moved, { hosts: ['gh'] })
    expect(await get(asked)).toMatchObject({ status: 301, headers: { location, 'cache-control': 'no-store' } })
  })

  test('is shown under that name', async () => {
    const { get } = await open(moved, { hosts: ['gh'] })
    expect((await get('/gh/Moved/Kit@v1/docs')).status).toBe(200)
  })
})

describe('overview', () => {
  test('an address shows its manifest, counts, license, commit, skills and documents', async () => {
    const { get } = await open({})
    const { status, html } = await get(PAGE)
    expect(status).toBe(200)
    const text = textOf(html)
    for (const words of [
      'Tools',
      'What we work with.',
      'ready',
      '1 skill',
      '1 document',
      'Apache-2.0',
      COMMIT,
      'main (default branch)',
      'Reads PDF files.',
      'How to begin.',
    ]) {
      expect(text).toContain(words)
    }
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([`${PAGE}?view=skill&path=skills/pdf/SKILL.md`, `${PAGE}?view=file&path=docs/guide.md`]),
    )
  })

  test('a partial index, diagnostics, warnings and described-only skills are said', async () => {
    const skill = { path: 'a/SKILL.md', directory: 'a', name: 'a', description: 'A.', translations: {}, license: OPEN }
    const { get } = await open({
      mounts: () =>
        readyMount({
          truncated: true,
          skills: [{ ...skill, warnings: [{ code: 'name.duplicate', message: 'the name is taken' }], describedOnly: true }],
          diagnostics: [
            { code: 'manifest.unreadable', severity: 'error', path: 'x/SKILLSET.md', boundary: 'x', message: 'yaml: no mapping' },
          ],
        }),
    })
    const text = textOf((await get(PAGE)).html)
    // What is wrong stands before what there is.
    expect(text.indexOf('yaml: no mapping')).toBeLessThan(text.indexOf('described only'))
    for (const words of [
      'Partly indexed',
      'described only',
      '1 warning',
      'yaml: no mapping',
      'x/SKILLSET.md',
      'manifest.unreadable',
    ]) {
      expect(text).toContain(words)
    }
  })

  test('the listed skills lead on to the folders when there are more', async () => {
    const { get } = await open({ mounts: () => readyMount({ counts: { skills: 1200, documents: 1 } }) })
    const { html } = await get(PAGE)
    expect(textOf(html)).toContain('Browse all 1,200 skills')
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=browse`)
  })

  test('the canonical address comes from the setting and the API, never from the request', async () => {
    const { get } = await open({}, { baseUrl: 'https://skills.example' })
    const { html } = await get('/local/acme/tools/?utm=1')
    expect(attributesOf(html, 'link', 'href')).toContain(`https://skills.example${PAGE}`)
    expect(html).not.toContain('127.0.0.1')
  })
})

describe('browse', () => {
  test('a folder shows its entries, its README, the way up and the next page', async () => {
    const questions: Question[] = []
    const { get } = await open({
      browse: question => {
        questions.push(question)
        return browsePage({
          path: 'skills/pdf',
          nextCursor: 'abc_-1',
          overview: { path: 'skills/pdf/README.md', title: null, description: 'About PDF.' },
          entries: [
            { path: 'skills/pdf/forms', kind: 'directory', counts: { skills: 2, documents: 1 } },
            { path: 'skills/pdf/notes.txt', kind: 'file', size: 2048, title: 'Notes' },
          ],
        })
      },
    })
    const { html } = await get(`${PAGE}?view=browse&path=skills/pdf`)
    expect(questions[0]?.query.get('path')).toBe('skills/pdf')
    const hrefs = attributesOf(html, 'a', 'href')
    expect(hrefs).toEqual(
      expect.arrayContaining([
        `${PAGE}?view=browse`,
        `${PAGE}?view=browse&path=skills`,
        `${PAGE}?view=browse&path=skills/pdf/forms`,
        `${PAGE}?view=file&path=skills/pdf/notes.txt`,
        `${PAGE}?view=file&path=skills/pdf/README.md&look=rendered`,
        `${PAGE}?view=browse&path=skills/pdf&cursor=abc_-1`,
      ]),
    )
    expect(textOf(html)).toContain('2 skills · 1 document')

    await get(`${PAGE}?view=browse&path=skills/pdf&cursor=abc_-1`)
    expect(questions[1]?.query.get('cursor')).toBe('abc_-1')
  })

  test.each(['c++.md', '%5Bboop%5D.html', 'a b.md', '#1?.md', '日本語.md', 'a&b=c.md', "it's.md", 'x"y.md'])(
    'a file named %s opens from its folder under exactly that name',
    async name => {
      const asked: (string | null)[] = []
      const { get } = await open({
        browse: () => browsePage({ entries: [{ path: `odd/${name}`, kind: 'file', size: 1 }] }),
        files: ({ query }) => {
          asked.push(query.get('path'))
          return filePage({ path: `odd/${name}` })
        },
      })
      const folder = await get(`${PAGE}?view=browse`)
      const href = attributesOf(folder.html, 'a', 'href').find(link => link.includes('view=file'))
      const file = await get(href ?? '')
      expect(file.status).toBe(200)
      expect(asked).toEqual([`odd/${name}`])
      expect(titleOf(file.html)).toContain(name)
    },
  )
})

describe('find', () => {
  test('before a search there is only the field', async () => {
    const { get } = await open({})
    const { status, html } = await get(`${PAGE}?view=find`)
    expect(status).toBe(200)
    expect(attributesOf(html, 'input', 'name')).toContain('query')
  })

  test('results are in order, with the matching files of a skill', async () => {
    const { get } = await open({
      find: ({ query }) =>
        findPage({
          query: query.get('query') ?? '',
          items: [
            { kind: 'document', path: 'docs/first.md', title: 'First', summary: '' },
            {
              kind: 'skill',
              path: 'pdf/SKILL.md',
              directory: 'pdf',
              name: 'second',
              description: 'B.',
              translations: {},
              license: OPEN,
              files: [{ path: 'pdf/form.md', title: 'Form', summary: 'Fill it in.' }],
              moreFiles: 7,
            },
          ],
          nextCursor: 'next',
        }),
    })
    const { html } = await get(`${PAGE}?view=find&query=c%2B%2B+%26+%23`)
    const text = textOf(html)
    expect(text).toContain('Results for c++ & #')
    expect(text.indexOf('First')).toBeLessThan(text.indexOf('second'))
    expect(text).toContain('Form Fill it in.')
    expect(text).toContain('and 7 more')
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=find&query=c%2B%2B%20%26%20%23&cursor=next`)
  })

  test('nothing found is said', async () => {
    const { get } = await open({ find: () => findPage() })
    expect(textOf((await get(`${PAGE}?view=find&query=pdf`)).html)).toContain('No skill or document matches these words.')
  })
})

describe('skill', () => {
  const parts = {
    ruleChain: [
      {
        path: 'SKILLSET.md',
        content: '\n\n# Rules\n\t<b>exact</b> & "more"\n',
        fragment: whole('\n\n# Rules\n\t<b>exact</b> & "more"\n'),
      },
      {
        path: 'skills/SKILLSET.md',
        content: 'near',
        fragment: { index: 1, offset: 10, length: 4, totalLength: 20, last: false },
      },
    ],
    body: 'body \u200b\u202e\u{e0041} end\r\n',
    bodyFragment: whole('body \u200b\u202e\u{e0041} end\r\n'),
    includes: [{ path: 'skills/pdf/form.ts', content: 'const a = 1\n', fragment: whole('const a = 1\n') }],
  }

  test('rules, body and includes stand in order, character for character as an agent receives them', async () => {
    const { get } = await open({ skills: () => skillPage(parts) })
    const { html } = await get(SKILL)
    expect(exactTextsOf(html)).toEqual([...parts.ruleChain.map(rule => rule.content), parts.body, parts.includes[0]?.content])
    const text = textOf(html)
    expect(text).toContain('continued, 10–14 of 20 characters, continues')
    expect(text).toContain('3 invisible characters are marked')
    expect(attributesOf(html, 'bdi', 'data-code')).toEqual(['U+200B', 'U+202E', 'U+E0041'])
  })

  test('the rendered look is one link away and keeps the place', async () => {
    const { get } = await open({ skills: () => skillPage({ ...parts, body: '# Title\n\n[guide](../../docs/guide.md)' }) })
    const exact = await get(`${SKILL}&cursor=here`)
    const href = attributesOf(exact.html, 'a', 'href').find(link => link.includes('look=rendered')) ?? ''
    expect(href).toBe(`${SKILL}&cursor=here&look=rendered`)
    const { html } = await get(href)
    expect(html).toContain('<h3 id="t2-title">Title</h3>')
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=file&path=docs/guide.md&look=rendered`)
  })

  test('a skill that is not complete leads to its next page', async () => {
    const cursors: (string | null)[] = []
    const { get } = await open({
      skills: ({ query }) => {
        cursors.push(query.get('cursor'))
        return query.has('cursor') ? skillPage(parts) : skillPage(parts, { complete: false, nextCursor: 'p2' })
      },
    })
    const first = await get(SKILL)
    expect(textOf(first.html)).toContain('The skill continues on the next page.')
    const next = attributesOf(first.html, 'a', 'href').find(link => link.includes('cursor=')) ?? ''
    const second = await get(next)
    expect(cursors).toEqual([null, 'p2'])
    expect(textOf(second.html)).toContain('Complete: this is the last page.')
  })

  test('a skill whose required content is missing is called incomplete', async () => {
    const diagnostics = [
      { code: 'include.missing', severity: 'error' as const, path: 'skills/pdf/x.md', message: 'an include is not there' },
    ]
    const page = skillPage(parts, { complete: false, diagnostics })
    delete page.nextCursor
    const { get } = await open({ skills: () => page })
    const text = textOf((await get(SKILL)).html)
    expect(text).toContain('An agent must not follow this skill.')
    expect(text).toContain('an include is not there')
  })

  test('a described-only skill shows its description and where to read it', async () => {
    const page = skillPage({
      body: '',
      bodyFragment: null,
      serving: {
        license: { kind: 'restricted', name: 'Proprietary', source: null },
        full: false,
        sourceUrl: 'https://host.example/SKILL.md',
      },
    })
    delete page.skill.ruleChain
    const { get } = await open({ skills: () => page })
    const { html } = await get(SKILL)
    expect(textOf(html)).toContain('Described only')
    expect(exactTextsOf(html)).toEqual([])
    expect(attributesOf(html, 'a', 'href')).toContain('https://host.example/SKILL.md')
  })

  test('front matter, files, references, oversized files and warnings stand beside it', async () => {
    const { get } = await open({
      skills: () =>
        skillPage({
          frontMatter: { compatibility: 'needs git', 'allowed-tools': ['Read', 'Bash'], metadata: { author: 'Acme' } },
          warnings: [{ code: 'reference.broken', message: 'references/gone.md leads to nothing' }],
          files: ['skills/pdf/c++.md'],
          references: ['skills/other/SKILL.md'],
          oversized: [{ path: 'skills/pdf/big.bin', size: 3 * 1024 * 1024, sourceUrl: 'https://host.example/big.bin' }],
        }),
    })
    const { html } = await get(SKILL)
    const text = textOf(html)
    for (const words of ['needs git', 'Read, Bash', 'author: Acme', 'references/gone.md leads to nothing', '3.0 MiB'])
      expect(text).toContain(words)
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([
        `${PAGE}?view=file&path=skills/pdf/c%2B%2B.md`,
        `${PAGE}?view=skill&path=skills/other/SKILL.md`,
        'https://host.example/big.bin',
      ]),
    )
  })

  test('an ambiguous name offers the skills to choose from', async () => {
    const { get } = await open({ skills: () => refusal('skill.ambiguous', { directories: ['a/pdf', 'b/pdf'] }) })
    const { status, html } = await get(`${PAGE}?view=skill&path=pdf`)
    expect(status).toBe(409)
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=skill&path=b/pdf/SKILL.md`)
  })
})

describe('file', () => {
  test('a text is shown exactly and paged by its offset', async () => {
    const { get } = await open({
      files: ({ query }) =>
        query.get('offset') === '3'
          ? filePage({ content: '\n😀', offset: 3, totalLength: 5 })
          : filePage({ content: 'a<b', nextOffset: 3, totalLength: 5 }),
    })
    const first = await get(`${PAGE}?view=file&path=docs/guide.md`)
    expect(exactTextsOf(first.html)).toEqual(['a<b'])
    expect(textOf(first.html)).toContain('0–3 of 5 characters')
    const next = attributesOf(first.html, 'a', 'href').find(link => link.includes('offset=')) ?? ''
    const second = await get(next)
    expect(exactTextsOf(second.html)).toEqual(['\n😀'])
    expect(textOf(second.html)).toContain('3–5 of 5 characters')
  })

  test('of a skill leads to the skill, and the skill to its file unless that is withheld', async () => {
    const path = 'skills/pdf/SKILL.md'
    const asFile = `${PAGE}?view=file&path=${path}`
    const full = await open({ files: () => filePage({ path }), skills: () => skillPage() })
    expect(attributesOf((await full.get(asFile)).html, 'a', 'href')).toContain(SKILL)
    expect(attributesOf((await full.get(SKILL)).html, 'a', 'href')).toContain(asFile)
    await full.close()
    const serving = { license: { kind: 'restricted', name: 'Proprietary', source: null }, full: false, sourceUrl: 'x' } as const
    const described = await open({ skills: () => skillPage({ body: '', bodyFragment: null, serving }) })
    expect(attributesOf((await described.get(SKILL)).html, 'a', 'href')).not.toContain(asFile)
  })

  test('a file that is refused says why and where its bytes are', async () => {
    const { get } = await open({ files: () => refusal('file.too_large', { sourceUrl: 'https://host.example/big' }) })
    const { status, html } = await get(`${PAGE}?view=file&path=big`)
    expect(status).toBe(413)
    expect(attributesOf(html, 'a', 'href')).toContain('https://host.example/big')
  })

  test('a path that is no file may be a folder', async () => {
    const { get } = await open({ files: () => refusal('file.not_found') })
    const { status, html } = await get(`${PAGE}?view=file&path=docs/guide`)
    expect(status).toBe(404)
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=browse&path=docs/guide`)
  })

  test('a source that is no web address is not linked', async () => {
    const { get } = await open({ files: () => refusal('file.too_large', { sourceUrl: 'javascript:alert(1)' }) })
    expect(dangersOf((await get(`${PAGE}?view=file&path=big`)).html)).toEqual([])
  })
})

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

  test('a file read before the index is ready keeps its 503 and looks again', async () => {
    const { get } = await open({
      mounts: () => readyMount({}, { index: { status: 'indexing' } }),
      files: () => refusal('index.indexing', { retryAfter: 1 }),
    })
    const { status, html } = await get(`${PAGE}?view=file&path=a.md`)
    expect(status).toBe(503)
    expect(attributesOf(html, 'meta', 'http-equiv')).toEqual(['refresh'])
  })

  test('a failed index gives its code and when it is tried again', async () => {
    const { get } = await open({
      mounts: () =>
        readyMount({}, { index: { status: 'failed', errorCode: 'index.too_large', retryAt: '2026-03-04T05:06:07Z' } }),
    })
    const { status, html } = await get(PAGE)
    expect(status).toBe(200)
    expect(textOf(html)).toContain('2026-03-04 05:06 UTC')
    expect(html).toContain('index.too_large')
    expect(attributesOf(html, 'meta', 'http-equiv')).toEqual([])
  })

  test.each(ERROR_CODES)('%s keeps its status, of the address and of a view', async code => {
    const { get } = await open({
      mounts: ({ address }) => (address.includes('gone') ? refusal(code) : readyMount()),
      browse: () => refusal(code),
    })
    for (const target of ['/local/acme/gone', `${PAGE}?view=browse&path=x`]) {
      const { status, reason, html } = await get(target)
      expect([status, reason]).toEqual([ERROR_STATUS[code], STATUS_CODES[ERROR_STATUS[code]]])
      if (code !== 'index.indexing' || !target.startsWith(PAGE)) expect(textOf(html)).toContain(`${ERROR_STATUS[code]} ${code}`)
    }
  })

  test('where a ref or a folder is not there the whole repository is one link away', async () => {
    for (const code of ['mount.ref_not_found', 'mount.path_not_found'] as const) {
      const { get } = await open({ mounts: () => refusal(code) })
      expect((await get('/local/acme/tools@gone/nowhere')).html).toContain('href="/local/acme/tools"')
      expect((await get('/local/acme/tools')).html).not.toContain('Open the whole repository')
    }
  })

  test('a host that asks to wait is passed on', async () => {
    const { get } = await open({ mounts: () => refusal('mount.rate_limited', { retryAfter: 42 }) })
    const { headers, html } = await get(PAGE)
    expect(headers['retry-after']).toBe('42')
    expect(textOf(html)).toContain('Wait 42 seconds, then try again.')
  })

  test('a host that does not say for how long is waited for all the same', async () => {
    const { get } = await open({ mounts: () => refusal('mount.unavailable') })
    const { headers, html } = await get(PAGE)
    expect(headers['retry-after']).toBeUndefined()
    expect(textOf(html)).toContain('Try again in a few minutes.')
  })

  test.each([
    ['skills/pdf/SKILL.md', { skills: () => skillPage() }, 'Open the skill at this path', 'skill'],
    ['docs/guide.md', { files: () => filePage() }, 'Open the file at this path', 'file'],
    ['big.csv', { files: () => refusal('file.too_large', { sourceUrl: 'https://host.example/big' }) }, 'Open the file', 'file'],
  ] satisfies [string, Answers, string, string][])(
    'an address that ends at %s is no folder, and leads to what is there',
    async (path, answers, words, view) => {
      const { get } = await open({ mounts: () => refusal('mount.path_not_found'), ...answers })
      const { status, html } = await get(`${PAGE}@v1/${path}`)
      expect(status).toBe(404)
      expect(textOf(html)).toContain(words)
      expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}@v1?view=${view}&path=${path}`)
    },
  )

  test('an address that ends at nothing leads to no file', async () => {
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

  test('a view that does not exist is refused', async () => {
    const { get } = await open({})
    expect((await get(`${PAGE}?view=nonsense`)).status).toBe(400)
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
  const warnings = [{ code: HOSTILE, field: HOSTILE, message: HOSTILE }]
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
    expect(attributesOf(html, 'a', 'href').filter(href => /^(?!\/(?!\/)|#)/.test(href))).toEqual([])
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
