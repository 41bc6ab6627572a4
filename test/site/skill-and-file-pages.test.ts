import { describe, expect, test } from 'vitest'
import type { License } from '#core/contract/shared.ts'
import { browsePage, filePage, readyMount, refusal, skillPage, whole } from './support/answers.ts'
import { attributesOf, dangersOf, exactTextsOf, textOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const CURSOR = 'c'.repeat(23)

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
        fragment: { index: 1, offset: 10, length: 4, totalLength: 20, totalBytes: 20, totalTokens: 5, last: false },
      },
    ],
    body: 'body \u200b\u202e\u{e0041} end\r\n',
    bodyFragment: whole('body \u200b\u202e\u{e0041} end\r\n'),
    includes: [{ path: 'skills/pdf/form.ts', content: 'const a = 1\n', fragment: whole('const a = 1\n') }],
  }

  test('rules, body and includes are in order, character for character as an agent receives them', async () => {
    const { get } = await open({ skills: () => skillPage(parts) })
    const { html } = await get(`${SKILL}&look=exact`)
    expect(exactTextsOf(html)).toEqual([...parts.ruleChain.map(rule => rule.content), parts.body, parts.includes[0]?.content])
    const text = textOf(html)
    expect(text).toContain('continued ~5 tokens')
    expect(attributesOf(html, 'span', 'title')).toContain('10–14 of 20 characters · 4 bytes')
    expect(text).toContain('3 hidden characters are marked')
    expect(attributesOf(html, 'bdi', 'data-code')).toEqual(['U+200B', 'U+202E', 'U+E0041'])
  })

  test.each([
    [{ kind: 'open', name: 'MIT', source: 'skills/LICENSE.txt' }, 'MIT · LICENSE.txt', 'path=skills/LICENSE.txt'],
    [
      { kind: 'open', name: 'MIT', source: 'skills/pdf/SKILL.md', line: 4 },
      'MIT · SKILL.md , line 4',
      'path=skills/pdf/SKILL.md&look=exact#L4',
    ],
  ] as const)('its license %j links to where it is declared', async (license, words, link) => {
    const { get } = await open({ skills: () => skillPage({ serving: { license, full: true, sourceUrl: 'https://x.example' } }) })
    const { html } = await get(SKILL)
    expect(textOf(html)).toContain(words)
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=file&${link}`)
  })

  test('texts are rendered, and the exact look is linked and keeps the position', async () => {
    const { get } = await open({ skills: () => skillPage({ ...parts, body: '# Title\n\n[guide](../../docs/guide.md)' }) })
    const { html } = await get(`${SKILL}&cursor=here`)
    expect(html).toContain('<h3 id="t2-title">Title')
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([`${PAGE}?view=file&path=docs/guide.md`, `${SKILL}&cursor=here&look=exact`]),
    )
  })

  test('the thread begins with the rules and their number, and says nothing where there are none', async () => {
    const rules = ['SKILLSET.md', 'skills/SKILLSET.md'].map(path => ({ path, content: 'x', fragment: whole('x') }))
    const { get } = await open({ skills: ({ address }) => skillPage({ ruleChain: address.includes('@') ? rules : [] }) })
    expect(textOf((await get(SKILL)).html)).not.toMatch(/No rules|rule 1/)
    const { html } = await get(SKILL.replace('?', '@v1?'))
    expect(textOf(html)).toMatch(/rule 1 of 2 SKILLSET.md .* rule 2 of 2 skills\/SKILLSET.md/)
    expect(attributesOf(html, 'a', 'href').filter(href => href.endsWith('-part'))).toEqual(['#t0-part', '#t1-part', '#t2-part'])
  })

  test('the thread ends with what is read on demand, and its end is not announced', async () => {
    const references = ['docs/a.md']
    const files = Array.from({ length: 40 }, (_, index) => `skills/pdf/f${index}.md`)
    const { get } = await open({ skills: () => skillPage({ ...parts, references, files }) })
    const { html } = await get(SKILL)
    const text = textOf(html)
    expect(text).not.toMatch(/[Cc]omplete/)
    expect(text).toContain('1 Reference Only listed; the agent opens it if it must.')
    expect(text).toContain('40 Supporting files')
    expect(html).toMatch(/<details>.*28 more/s)
  })

  test('findings stand below the description in words, what matters most first, with their code in an attribute alone', async () => {
    const warnings = [
      { code: 'body.long', level: 'style' as const, message: 'longer than 500 lines or 20000 bytes' },
      { code: 'description.missing', level: 'breaks' as const, field: 'description', message: 'no description' },
      { code: 'text.hidden_characters', level: 'look' as const, message: 'hidden characters (U+202E) on line 9' },
      { code: 'name.duplicate', level: 'style' as const, field: 'name', message: 'another skill has this name' },
    ]
    const body = 'x'.repeat(26_000)
    const { get } = await open({ skills: () => skillPage({ warnings, body, bodyFragment: whole(body) }) })
    const { html } = await get(SKILL)
    const text = textOf(html)
    expect(text).toMatch(/Look at this hidden characters .* Breaks No description, so an agent cannot tell when to use it\./)
    expect(text).toMatch(/2 more findings Style Long: 25 KiB\. Keep a skill below 20 kB\. Style another skill has this name/)
    expect(text).not.toContain('body.long')
    expect(attributesOf(html, 'li', 'data-code')).toContain('body.long')
  })

  test('what a skill may do is one line, and nothing where there is nothing', async () => {
    const path = 'skills/pdf/SKILL.md'
    const facts = {
      hosts: ['a', 'b', 'c', 'd'].map(name => ({ host: `${name}.example`, path, line: 5 })),
      commands: [{ command: `curl ${'x'.repeat(100)} | sh`, path: 'skills/pdf/run', line: 2 }],
      executables: ['skills/pdf/run'],
    }
    const frontMatter = { 'allowed-tools': 'Read, Grep Bash(git commit *), Bash' }
    const { get } = await open({
      skills: ({ address }) =>
        skillPage(address.includes('@') ? {} : { frontMatter, facts, files: ['skills/pdf/run', 'skills/pdf/a.py'] }),
    })
    const { html } = await get(SKILL)
    expect(textOf(html)).toMatch(
      /May use without asking: Bash\(git commit \*\) , Bash , Read , Grep has 2 scripts names a\.example , b\.example and 2 more runs curl x+… /,
    )
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([
        '#skill-hosts',
        `${PAGE}?view=file&path=${path}&look=exact#L5`,
        `${PAGE}?view=file&path=skills/pdf/run&look=exact#L2`,
      ]),
    )
    // The list beside the text names what the line has no room for.
    expect(attributesOf(html, 'ul', 'id')).toEqual(expect.arrayContaining(['skill-hosts']))
    expect(html).not.toContain('skill-commands')
    expect((await get(SKILL.replace('?', '@v1?'))).html).not.toContain('class="risk"')
  })

  test('a skill of a few pages is shown whole', async () => {
    const cursors: (string | null)[] = []
    const { get } = await open({
      skills: ({ query }) => {
        cursors.push(query.get('cursor'))
        return query.has('cursor') ? skillPage(parts) : skillPage(parts, { complete: false, nextCursor: 'p2' })
      },
    })
    const first = await get(SKILL)
    // 64 KiB are one page.
    expect(cursors).toEqual([null, 'p2'])
    expect(textOf(first.html)).not.toContain('Continues')
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

  test('the link to the file names its host', async () => {
    const { get } = await open(
      { skills: () => skillPage(parts), mounts: ({ address }) => readyMount({}, { address: `/${address}` }) },
      { hosts: ['local', 'gh'] },
    )
    expect(textOf((await get(SKILL)).html)).toContain('SKILL.md, raw')
    expect(textOf((await get(SKILL.replace('/local/', '/gh/'))).html)).toContain('SKILL.md on the git host')
  })

  test('a described-only skill shows its description and a link to its source', async () => {
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
    const { get } = await open(
      { skills: () => page, mounts: ({ address }) => readyMount({}, { address: `/${address}` }) },
      { hosts: ['local', 'gh'] },
    )
    const { html } = await get(SKILL)
    expect(textOf(html)).toContain('Text withheld: its license allows no copies. Agents get its name and description.')
    expect(textOf(html)).toContain('This server keeps the original back as well.')
    expect(exactTextsOf(html)).toEqual([])
    // This service is the host of a local repository, and does not serve the original there.
    expect(attributesOf(html, 'a', 'href')).not.toContain('https://host.example/SKILL.md')
    const remote = await get(SKILL.replace('/local/', '/gh/'))
    expect(attributesOf(remote.html, 'a', 'href')).toContain('https://host.example/SKILL.md')
  })

  test('front matter, files, references, oversized files and warnings are beside it', async () => {
    const { get } = await open({
      skills: () =>
        skillPage({
          frontMatter: { compatibility: 'needs git', 'allowed-tools': ['Read', 'Bash'], metadata: { author: 'Acme' } },
          warnings: [{ code: 'reference.broken', level: 'breaks', message: 'references/gone.md leads to nothing' }],
          files: ['skills/pdf/c++.md'],
          references: ['skills/other/SKILL.md'],
          oversized: [{ path: 'skills/pdf/big.bin', size: 3 * 1024 * 1024, sourceUrl: 'https://host.example/big.bin' }],
        }),
    })
    const { html } = await get(SKILL)
    const text = textOf(html)
    for (const words of [
      'needs git',
      'May use without asking: Bash , Read',
      'author: Acme',
      'references/gone.md leads to nothing',
      '3.0 MiB',
    ])
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
    const first = await get(`${PAGE}?view=file&path=docs/guide.md&look=exact`)
    expect(exactTextsOf(first.html)).toEqual(['a<b'])
    expect(textOf(first.html)).toContain('0–3 of 5 characters')
    const next = attributesOf(first.html, 'a', 'href').find(link => link.includes('offset=')) ?? ''
    const second = await get(next)
    expect(exactTextsOf(second.html)).toEqual(['\n😀'])
    expect(textOf(second.html)).toContain('3–5 of 5 characters')
  })

  test('of a skill links to the skill, and the skill to its file unless that is withheld', async () => {
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

  test('a refused file shows the reason and links to its bytes', async () => {
    const { get } = await open({ files: () => refusal('file.too_large', { sourceUrl: 'https://host.example/big' }) })
    const { status, html } = await get(`${PAGE}?view=file&path=big`)
    expect(status).toBe(413)
    expect(attributesOf(html, 'a', 'href')).toContain('https://host.example/big')
  })

  test('that is a link, and one that is the license of skills, say so', async () => {
    const path = 'LICENSE'
    const mount = readyMount({ license: { kind: 'open', name: 'MIT', source: path } })
    if (mount.index.status === 'ready')
      mount.index.skills = mount.index.skills.map(skill => ({ ...skill, license: { kind: 'open', name: 'MIT', source: path } }))
    const { get } = await open({
      mounts: () => mount,
      files: ({ query }) => filePage(query.get('path') === path ? { path } : { path: 'AGENTS.md', target: 'CLAUDE.md' }),
    })
    expect(textOf((await get(`${PAGE}?view=file&path=${path}`)).html)).toContain('This file governs 1 of 1 skill.')
    const { html } = await get(`${PAGE}?view=file&path=AGENTS.md`)
    expect(textOf(html)).toContain('AGENTS.md is a link to CLAUDE.md')
    expect(textOf(html)).not.toContain('governs')
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=file&path=CLAUDE.md`)
  })

  test('a file that is not sent and declares the license of skills says so, with its line at the host', async () => {
    const path = 'kit/.claude-plugin/plugin.json'
    const license = { kind: 'open', name: 'MIT', source: path, line: 11 } as const
    const asked: string[] = []
    const licensed = (address: string, skills: number) => {
      const mount = readyMount({ counts: { skills, documents: 0 } }, { address })
      if (mount.index.status === 'ready') mount.index.skills = mount.index.skills.map(skill => ({ ...skill, license }))
      return mount
    }
    const sourceUrl = `https://github.example/acme/tools/blob/1/${path}`
    const { get } = await open(
      {
        mounts: ({ address }) => {
          asked.push(address)
          return licensed(address, address.endsWith('/kit') ? 1 : 60)
        },
        files: () => refusal('file.not_found', { sourceUrl }),
        browse: () => browsePage({ entries: [] }),
        skills: () => skillPage({ serving: { license, full: true, sourceUrl: '' } }),
      },
      { hosts: ['gh', 'local'] },
    )
    const { html } = await get(`/gh/acme/tools?view=file&path=${path}`)
    expect(textOf(html).replace(/ ,/g, ',')).toContain('Line 11 of this file declares the license MIT, for 1 of 60 skills.')
    expect(attributesOf(html, 'a', 'href')).toContain(`${sourceUrl}#L11`)
    expect(asked).toContain('gh/acme/tools/kit')
    // Without the folder of the file, some skills are not counted.
    const { html: near } = await get(`/gh/acme/tools?view=file&path=.claude-plugin/plugin.json`)
    expect(textOf(near)).not.toContain('declares')
    // The head of a skill names the same file as its facts.
    const head = (await get('/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md')).html
    expect(textOf(head.slice(head.indexOf('class="mount-facts'), head.indexOf('class="tabs-bar'))).replace(/ ,/g, ',')).toContain(
      'MIT · plugin.json, line 11',
    )
  })

  test('a license of more skills than are listed governs at least those', async () => {
    const path = 'LICENSE'
    const mount = readyMount({ counts: { skills: 60, documents: 0 } })
    if (mount.index.status === 'ready')
      mount.index.skills = mount.index.skills.map(skill => ({ ...skill, license: { kind: 'open', name: 'MIT', source: path } }))
    const { get } = await open({ mounts: () => mount, files: () => filePage({ path }) })
    expect(textOf((await get(`${PAGE}?view=file&path=${path}`)).html)).toContain('This file governs at least 1 of 60 skills.')
  })

  test('of a manifest is marked as a rule, with its skills', async () => {
    const { get } = await open({ files: ({ query }) => filePage({ path: query.get('path') ?? '' }) })
    const { html } = await get(`${PAGE}?view=file&path=skills/SKILLSET.md`)
    expect(textOf(html)).toContain('Agents get the text of this file as a rule before every skill of its folder')
    expect(attributesOf(html, 'a', 'href')).toEqual(expect.arrayContaining([`${PAGE}/skills`, '/docs/rules']))
    expect(textOf((await get(`${PAGE}?view=file&path=docs/guide.md`)).html)).not.toContain('as a rule')
  })

  test.each([
    ['file.too_large', 'docs/big.bin is too large to show: a text has 1.0 MiB at most.'],
    ['file.not_text', 'docs/big.bin is not text, so it is not shown.'],
  ] as const)('that answers %s has an explanation in words, and the folder is one link away', async (code, words) => {
    const { get } = await open({ files: () => refusal(code) })
    const { html } = await get(`${PAGE}?view=file&path=docs/big.bin`)
    expect(textOf(html)).toContain(words)
    expect(textOf(html)).not.toContain('sourceUrl')
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=browse&path=docs`)
  })

  describe('a file whose text is withheld', () => {
    const path = 'docs/guide.md'
    const target = `${PAGE}?view=file&path=${path}`
    const refused = () => refusal('file.not_served')
    const listed = (license: License) =>
      ({ path, kind: 'file', size: 2_048, title: 'Guide', license, describedOnly: true }) as const

    test.each([
      [
        { kind: 'restricted', name: 'BUSL-1.1', source: 'docs/LICENSE' },
        'Text withheld: its license allows no copies ( BUSL-1.1 · LICENSE ).',
      ],
      [
        { kind: 'unknown', name: null, source: 'LICENSE' },
        'Text withheld: its license is not one that we recognize ( unknown license · LICENSE ).',
      ],
      [{ kind: 'none', name: null, source: null }, 'Text withheld: no license was found for it.'],
    ] as const)('is described beside the reason: %j', async (license, reason) => {
      const { get } = await open({ files: refused, browse: () => browsePage({ path: 'docs', entries: [listed(license)] }) })
      const { status, html } = await get(target)
      expect(status).toBe(403)
      expect(html).toContain('data-code="file.not_served"')
      for (const words of [reason, 'Title Guide', '2.0 KiB']) expect(textOf(html)).toContain(words)
      const source = license.source === null ? [] : [`${PAGE}?view=file&path=${license.source}`]
      expect(attributesOf(html, 'a', 'href')).toEqual(
        expect.arrayContaining([`${PAGE}?view=browse&path=docs`, '/docs/licenses', ...source]),
      )
    })

    test('is searched on later pages of its folder, up to a limit', async () => {
      const asked: (string | null)[] = []
      const found = await open({
        files: refused,
        browse: ({ query }) => {
          asked.push(query.get('cursor'))
          const license = { kind: 'unknown', name: null, source: null } as const
          return query.has('cursor') ? browsePage({ entries: [listed(license)] }) : browsePage({ nextCursor: CURSOR })
        },
      })
      expect(textOf((await found.get(target)).html)).toContain('Title Guide')
      expect(asked).toEqual([null, CURSOR])
      await found.close()
      let pages = 0
      const endless = await open({
        files: refused,
        browse: () => {
          pages++
          return browsePage({ nextCursor: CURSOR })
        },
      })
      const { html } = await endless.get(target)
      expect(textOf(html)).toContain('Text withheld: no license that we recognize allows copies of it.')
      expect(pages).toBe(5)
    })
  })

  test('a source that is no web address is not linked', async () => {
    const { get } = await open({ files: () => refusal('file.too_large', { sourceUrl: 'javascript:alert(1)' }) })
    expect(dangersOf((await get(`${PAGE}?view=file&path=big`)).html)).toEqual([])
  })
})
