import { describe, expect, test } from 'vitest'
import { browsePage, COMMIT, filePage, findPage, type Question, readyMount } from './support/answers.ts'
import { attributesOf, textOf, titleOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

/** What `files=all` says of a file without a license. */
const WITHHELD = { delivered: false, why: 'withheld' } as const

const OPEN = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const

describe('a repository that has another name at its host', () => {
  const moved = { mounts: () => readyMount({}, { address: '/gh/Moved/Kit@v1/docs' }) }

  test.each([
    ['/gh/acme/tools@v1/docs', '/gh/Moved/Kit@v1/docs'],
    ['/gh/moved/kit@feature%2Fx/a%20b', '/gh/Moved/Kit@feature%2Fx/a%20b'],
    ['/gh/acme/tools@v1/docs?view=file&path=docs/a+b.md', '/gh/Moved/Kit@v1/docs?view=file&path=docs%2Fa+b.md'],
  ])('redirects %s to its new address', async (asked, location) => {
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
      '1 skill',
      'Apache-2.0',
      COMMIT.slice(0, 7),
      'main',
      'Reads PDF files.',
      'Guide',
    ]) {
      expect(text).toContain(words)
    }
    expect(text).not.toContain('ready')
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([`${PAGE}?view=skill&path=skills/pdf/SKILL.md`, `${PAGE}?view=file&path=docs/guide.md`]),
    )
  })

  test('a partial index, diagnostics and described-only skills are shown', async () => {
    const skill = { path: 'a/SKILL.md', directory: 'a', name: 'a', description: 'A.', translations: {}, license: OPEN }
    const { get } = await open({
      mounts: () =>
        readyMount({
          truncated: true,
          skills: [{ ...skill, warnings: [], describedOnly: true }],
          diagnostics: [
            { code: 'manifest.unreadable', severity: 'error', path: 'x/SKILLSET.md', boundary: 'x', message: 'yaml: no mapping' },
          ],
        }),
    })
    const text = textOf((await get(PAGE)).html)
    // What is wrong stands before what there is.
    expect(text.indexOf('Parts of this repository may be missing: 1 finding')).toBeLessThan(text.indexOf('text withheld'))
    for (const words of ['Partly indexed', 'text withheld', '1 finding']) expect(text).toContain(words)
  })

  test('the canonical address is built from the setting and the API, never from the request', async () => {
    const { get } = await open({}, { baseUrl: 'https://skills.example' })
    const { html } = await get('/local/acme/tools/?utm=1')
    expect(attributesOf(html, 'link', 'href')).toContain(`https://skills.example${PAGE}`)
    expect(html).toContain(`<link rel="mcp-server" href="https://skills.example/mcp${PAGE}"`)
    expect(html).toContain(`<link rel="agent-skills" href="https://skills.example${PAGE}/.well-known/agent-skills/index.json"`)
    expect(html).not.toContain('127.0.0.1')
  })
})

describe('browse', () => {
  test('a folder shows its entries, its README, the parent folder and the next page', async () => {
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
        `${PAGE}?view=file&path=skills/pdf/README.md`,
        `${PAGE}?view=browse&path=skills/pdf&cursor=abc_-1&back=first`,
      ]),
    )
    expect(textOf(html)).toContain('2 skills 1 document')

    await get(`${PAGE}?view=browse&path=skills/pdf&cursor=abc_-1`)
    expect(questions[1]?.query.get('cursor')).toBe('abc_-1')
  })

  test('what is wrong in a folder is a finding of the same level as in the list of all, and no remark of another kind', async () => {
    const told = {
      code: 'manifest.unknown_field',
      severity: 'info',
      path: 'SKILLSET.md',
      field: 'title',
      message: 'odd',
    } as const
    const { get } = await open({ browse: () => browsePage({ diagnostics: [told] }) })
    const text = textOf((await get(`${PAGE}?view=browse`)).html)
    expect(text).toContain('Findings Breaks odd . SKILLSET.md')
    expect(text).not.toMatch(/diagnostic|\binfo\b/i)
  })

  test('many findings of a folder are folded below the first ones', async () => {
    const told = { code: 'skill.file_name', severity: 'info', message: 'odd' } as const
    const diagnostics = Array.from({ length: 34 }, (_, number) => ({ ...told, path: `s${number}/skill.md` }))
    const { get } = await open({ browse: () => browsePage({ diagnostics }) })
    const { html } = await get(`${PAGE}?view=browse`)
    expect(textOf(html)).toContain('s3/skill.md 30 more findings')
    expect(textOf(html)).toContain('s33/skill.md')
  })

  test('why texts of a folder are withheld is shown once, and what its files have in common is not repeated', async () => {
    const license = { kind: 'unknown', name: null, source: 'LICENSE' } as const
    const file = (path: string) =>
      ({ path, kind: 'file', size: 1, title: 'About', license, describedOnly: true, ...WITHHELD }) as const
    const other = { ...file('docs/c.md'), license: { kind: 'restricted', name: 'BUSL-1.1', source: null } } as const
    const { get } = await open({
      mounts: () => readyMount({ license }),
      browse: () => browsePage({ path: 'docs', entries: [file('docs/a.md'), file('docs/about.md'), other] }),
    })
    const { html } = await get(`${PAGE}?view=browse&path=docs`)
    const text = textOf(html)
    expect(text).toContain('Withheld: no license that we recognize allows copies of these texts')
    expect(text).not.toContain('described only')
    expect(text.match(/withheld/g)).toHaveLength(3)
    // The license of the address is not repeated, nor a title that says what the name of the file does.
    expect(text.match(/BUSL-1.1|unknown license/g)).toEqual(['unknown license', 'BUSL-1.1'])
    expect(text.match(/About/g)).toHaveLength(2)
  })

  test.each([
    [{ kind: 'unknown', name: null, source: 'LICENSE' }, 'No text is shown: LICENSE is not a license we recognize.'],
    [
      { kind: 'restricted', name: 'BUSL-1.1', source: 'SKILLSET.md' },
      'No text is shown: BUSL-1.1 · SKILLSET.md allows no copies.',
    ],
    [{ kind: 'none', name: null, source: null }, 'No text is shown: there is no license.'],
  ] as const)('documents without any text say which license withholds it', async (license, sentence) => {
    const document = { path: 'docs/a.md', title: 'A', summary: '', license, describedOnly: true } as const
    const { get } = await open({ mounts: () => readyMount({ documents: [document], counts: { skills: 1, documents: 1 } }) })
    expect(textOf((await get(PAGE)).html)).toContain(sentence)
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
      const href = attributesOf(folder.html, 'a', 'href').find(link => link.includes('view=file&path=odd'))
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
    expect(textOf(html)).toContain('Searches the names, descriptions and texts of 1 skill and 1 document.')
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
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=find&query=c%2B%2B%20%26%20%23&cursor=next&back=first`)
  })

  test('an empty result is shown as such', async () => {
    const { get } = await open({ find: () => findPage() })
    expect(textOf((await get(`${PAGE}?view=find&query=pdf`)).html)).toContain('No skill or document has these words.')
  })
})
