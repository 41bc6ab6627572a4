import { describe, expect, test } from 'vitest'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { License } from '#core/contract/shared.ts'
import type { ErrorCode } from '#core/errors.ts'
import { readPatterns } from '#site/lib/left-out.ts'
import { type Answers, browsePage, filePage, HOSTILE, readyMount, refusal } from './support/answers.ts'
import { attributesOf, dangersOf, textOf, titleOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const none = { skills: 0, documents: 0 }
const SOURCE = 'https://host.example/original'
const CURSOR = 'c'.repeat(23)
const mainOf = (html: string) => html.slice(html.indexOf('<main'), html.indexOf('</main'))
const linksOf = (html: string) => attributesOf(mainOf(html), 'a', 'href')
const saidOf = (html: string) => textOf(mainOf(html)).replace(/\s+([.,:;])/g, '$1')

const ENTRIES: BrowseEntry[] = [
  { path: '.github', kind: 'directory', counts: { ...none, files: 41 }, delivered: false },
  { path: 'AGENTS.md', kind: 'file', size: 9, target: 'CLAUDE.md' },
  { path: 'SKILLSET.md', kind: 'file', size: 9 },
  { path: 'big.md', kind: 'file', size: 7_000_000, delivered: false, why: 'too_large' },
  { path: 'closed.md', kind: 'file', size: 4, title: 'Closed', describedOnly: true, delivered: false, why: 'withheld' },
  { path: 'code.ts', kind: 'file', size: 5, delivered: false, why: 'not_delivered' },
  { path: 'gone', kind: 'file', delivered: false, why: 'link' },
  { path: 'libs/other', kind: 'directory', counts: { ...none, files: 0 }, delivered: false, why: 'submodule' },
  { path: 'linked', kind: 'file', delivered: false, why: 'link', target: 'skills' },
  { path: 'logo.png', kind: 'file', size: 5, delivered: false, why: 'not_delivered' },
  { path: 'skills', kind: 'directory', counts: { skills: 2, documents: 0, files: 5 } },
  { path: 'table.bin', kind: 'file', size: 5, delivered: false, why: 'not_text' },
]
const MANIFEST = '---\nname: Kit\nexclude:\n  - drafts/**\n  - "!drafts/kept.md"\n---\nBe brief.\n'

/** A repository with one of everything, as the interface tells it. */
const ODD: Answers = {
  mounts: () => readyMount(),
  browse: ({ query }) => {
    const path = query.get('path') ?? ''
    if (query.get('files') !== 'all') return browsePage({ path })
    if (path === '') return browsePage({ entries: ENTRIES.filter(entry => !entry.path.startsWith('libs')) })
    if (path === 'libs') return browsePage({ path, entries: ENTRIES.filter(entry => entry.path.startsWith('libs')) })
    return path === 'skills' ? browsePage({ path }) : refusal('mount.path_not_found')
  },
  files: ({ query }) => {
    const path = query.get('path') ?? ''
    if (path === 'SKILLSET.md') return filePage({ path, content: MANIFEST })
    const entry = ENTRIES.find(entry => entry.path === path)
    const codes: Record<string, ErrorCode> = {
      too_large: 'file.too_large',
      not_text: 'file.not_text',
      withheld: 'file.not_served',
    }
    if (entry === undefined || (entry.kind === 'directory' && entry.why !== 'submodule')) return refusal('file.not_found')
    return refusal(codes[entry.why ?? ''] ?? 'file.not_found', { sourceUrl: SOURCE })
  },
  skills: () => refusal('skill.not_found'),
}

describe('the list of a folder', () => {
  test('has every file, and a word for what agents do not get', async () => {
    const { get } = await open(ODD)
    const { html } = await get(`${PAGE}?view=browse`)
    const rows = mainOf(html).match(/<li class="(?:skill|ruled|file|directory)[\s\S]*?<\/li>/g) ?? []
    const said = Object.fromEntries(rows.map(row => [textOf(row).split(' ')[0], textOf(row)]))
    expect(rows).toHaveLength(11)
    for (const [name, word] of Object.entries({
      'AGENTS.md': 'link → CLAUDE.md',
      'big.md': 'too large',
      'closed.md': 'withheld',
      'code.ts': 'not sent',
      gone: 'link',
      linked: 'link → skills',
      'logo.png': 'picture',
      'table.bin': 'not text',
      '.github': '41 files',
      skills: '2 skills',
    }))
      expect(said[name]).toContain(word)
    const grey = rows.filter(row => row.startsWith('<li class="file other') || row.startsWith('<li class="directory other'))
    expect(grey.map(row => textOf(row).split(' ')[0])).toEqual([
      '.github',
      'big.md',
      'closed.md',
      'code.ts',
      'gone',
      'linked',
      'logo.png',
      'table.bin',
    ])
    expect(linksOf(html)).toEqual(
      expect.arrayContaining([
        `${PAGE}?view=browse&files=delivered`,
        `${PAGE}?view=file&path=code.ts`,
        `${PAGE}?view=file&path=CLAUDE.md`,
        `${PAGE}?view=browse&path=skills`,
      ]),
    )
  })

  test('names a license that is not the usual one with a link to its line, never to a text that is withheld', async () => {
    const other = (path: string, kind: License['kind'], name: string): BrowseEntry => ({
      path,
      kind: 'directory',
      counts: { skills: 1, documents: 0, files: 1 },
      license: { kind, name, source: `${path}/SKILL.md`, line: 4 },
      skill: { path: `${path}/SKILL.md`, name: path, description: 'Does it.', translations: {} },
    })
    const entries = [other('open', 'open', 'Zlib'), { ...other('shut', 'restricted', 'Closed'), describedOnly: true as const }]
    const { get } = await open({ ...ODD, browse: () => browsePage({ entries }) })
    const { html } = await get(`${PAGE}?view=browse`)
    expect(saidOf(html)).toContain('Zlib · SKILL.md, line 4')
    expect(saidOf(html)).toContain('Closed · SKILL.md, line 4')
    const lines = linksOf(html).filter(href => href.includes('#L'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/path=open\/SKILL\.md.*#L4$/)
  })

  test('can be only what agents get, with the number of the others', async () => {
    const { get } = await open(ODD)
    const { html } = await get(`${PAGE}?view=browse&files=delivered`)
    for (const name of ['AGENTS.md', 'closed.md', 'skills']) expect(saidOf(html)).toContain(name)
    for (const name of ['code.ts', 'logo.png', '.github']) expect(saidOf(html)).not.toContain(name)
    // Forty-one below a folder, and six files.
    expect(saidOf(html)).toContain('47 other files: show all')
    expect(linksOf(html)).toEqual(
      expect.arrayContaining([`${PAGE}?view=browse`, `${PAGE}?view=browse&path=skills&files=delivered`]),
    )
  })

  test('of twenty thousand others is read in bounds, and goes on', async () => {
    const asked: string[] = []
    const entries = Array.from({ length: 100 }, (_, number) => ({
      path: `f${number}.ts`,
      kind: 'file' as const,
      size: 1,
      delivered: false as const,
      why: 'not_delivered' as const,
    }))
    const { get } = await open({
      browse: ({ query }) => {
        asked.push(query.get('cursor') ?? 'first')
        return browsePage({ entries, nextCursor: CURSOR })
      },
    })
    const { html } = await get(`${PAGE}?view=browse&files=delivered`)
    expect(asked).toHaveLength(10)
    expect(saidOf(html)).toContain('Agents get no text from this part of the folder.')
    expect(linksOf(html)).toEqual(
      expect.arrayContaining([`${PAGE}?view=browse&files=delivered&cursor=${CURSOR}&back=first`, `${PAGE}?view=browse`]),
    )
    const all = await get(`${PAGE}?view=browse`)
    expect(asked).toHaveLength(11)
    expect(linksOf(all.html)).toContain(`${PAGE}?view=browse&cursor=${CURSOR}&back=first`)
  })

  test('has a row for each pattern of its own manifest, linked to its line', async () => {
    const { get } = await open(ODD)
    const { html } = await get(`${PAGE}?view=browse`)
    expect(saidOf(html)).toContain('SKILLSET.md leaves out drafts/**')
    expect(saidOf(html)).toContain('SKILLSET.md makes an exception for drafts/kept.md')
    const line = (number: number) => `${PAGE}?view=file&path=SKILLSET.md&look=exact#L${number}`
    expect(linksOf(html)).toEqual(expect.arrayContaining([line(4), line(5)]))
    expect(saidOf((await get(`${PAGE}?view=browse&path=libs`)).html)).not.toContain('leaves out')
    expect(saidOf((await get(`${PAGE}?view=browse&lang=de`)).html)).toContain('SKILLSET.md lässt drafts/** weg')
  })

  test('names no pattern where the manifest itself is not served', async () => {
    for (const code of ['file.not_found', 'file.not_served'] as const) {
      const { get, close } = await open({ ...ODD, files: () => refusal(code) })
      expect(saidOf((await get(`${PAGE}?view=browse`)).html)).not.toContain('leaves out')
      await close()
    }
  })

  test('shows hostile names and patterns as text, and folds a long list of patterns', async () => {
    const patterns = [
      HOSTILE,
      'e\u0301\u0301\u0301',
      'שלום/**',
      'a'.repeat(200),
      ...Array.from({ length: 30 }, (_, n) => `p${n}`),
    ]
    const names = [HOSTILE.replaceAll('/', ''), 'שלום.ts', `${'a'.repeat(200)}.ts`, '<b>x<b>.ts']
    const { get } = await open({
      browse: () =>
        browsePage({
          entries: [
            ...names.map(path => ({
              path,
              kind: 'file' as const,
              size: 1,
              delivered: false as const,
              why: 'not_delivered' as const,
            })),
            { path: 'SKILLSET.md', kind: 'file', size: 1 },
          ],
        }),
      files: () => filePage({ content: `---\nexclude: ${JSON.stringify(patterns)}\n---\n` }),
    })
    const { html } = await get(`${PAGE}?view=browse`)
    expect(dangersOf(html)).toEqual([])
    expect(mainOf(html)).toMatch(/<details class="left-out">.*29 more patterns/s)
  })
})

test.each([
  [
    '---\nexclude: [a/, "b c", \'d\']\n---\n',
    [
      ['a/', 2],
      ['b c', 2],
      ['d', 2],
    ],
  ],
  [
    '---\nname: x\nexclude:\n- a\n# a comment: a\n- b # why\n---\n',
    [
      ['a', 4],
      ['b', 6],
    ],
  ],
  ['\uFEFF---\r\nexclude:\r\n  - a/**\r\n---\r\n', [['a/**', 3]]],
  ['---\nexclude: ["#no", "", "!kept"]\n---\n', [['kept', 2]]],
  ['---\nexclude: a\n---\n', []],
  ['---\nexclude: [[a]]\n---\n', []],
  ['---\nexclude: [a\n---\n', []],
  ['# exclude: [a]\n', []],
  [
    '---\nexclude: ["\\u0061b", c]\n---\n',
    [
      ['ab', 2],
      ['c', 2],
    ],
  ],
] as const)('patterns are read with their lines: %j', (text, expected) => {
  expect(readPatterns(text).map(({ text, line }) => [text, line])).toEqual(expected)
})

describe('what is there and not shown', () => {
  test.each([
    ['linked', 404, 'linked is a link to skills.', [`${PAGE}?view=browse&path=skills`]],
    ['gone', 404, 'gone is a link, and what it leads to is not shown here.', [SOURCE]],
    ['logo.png', 404, 'logo.png is a picture; pictures are not shown.', [SOURCE]],
    ['table.bin', 415, 'table.bin is not text, so it is not shown.', [SOURCE]],
    ['big.md', 413, 'big.md is too large to show: a text has 1.0 MiB at most.', [SOURCE]],
    ['code.ts', 404, 'code.ts is not sent to agents, so its text is not shown here.', [SOURCE]],
    ['libs/other', 404, 'libs/other is a submodule: another repository, whose files are not shown here.', [SOURCE]],
    ['libs/other/deeper/file.md', 404, 'libs/other is a submodule', []],
    ['skills', 404, 'skills is a folder.', [`${PAGE}?view=browse&path=skills`]],
    ['SKILLSET.md/below', 404, 'SKILLSET.md is a file: nothing lies below it.', [`${PAGE}?view=file&path=SKILLSET.md`]],
  ] as const)('%s has its own sentence and a way out', async (path, status, words, links) => {
    const { get } = await open(ODD)
    const page = await get(`${PAGE}?view=file&path=${path}`)
    expect(page.status).toBe(status)
    expect(saidOf(page.html)).toContain(words)
    expect(saidOf(page.html)).not.toMatch(/There is no|Nothing to read/)
    expect(linksOf(page.html)).toEqual(expect.arrayContaining([...links]))
    expect(titleOf(page.html)).not.toContain('not found')
    const german = await get(`${PAGE}?view=file&path=${path}&lang=de`)
    expect(saidOf(german.html)).not.toMatch(/gibt es nichts zu lesen/)
  })

  test('a file is no skill and no folder, and opens as what it is', async () => {
    const { get } = await open(ODD)
    const skill = await get(`${PAGE}?view=skill&path=code.ts`)
    expect(saidOf(skill.html)).toContain('code.ts is a file, and not a skill that agents can load.')
    const folder = await get(`${PAGE}?view=browse&path=code.ts`)
    expect(saidOf(folder.html)).toContain('code.ts is a file, not a folder.')
    for (const { status, html } of [skill, folder]) {
      expect(status).toBe(404)
      expect(linksOf(html)).toContain(`${PAGE}?view=file&path=code.ts`)
    }
  })

  test('a file that its folder is too long to list is told by its refusal', async () => {
    const { get } = await open({ ...ODD, browse: () => browsePage({ nextCursor: CURSOR }) })
    expect(saidOf((await get(`${PAGE}?view=file&path=code.ts`)).html)).toContain('code.ts is not sent to agents')
    expect(saidOf((await get(`${PAGE}?view=file&path=logo.png`)).html)).toContain('logo.png is a picture')
  })

  test('what lies outside of the folder of an address is neither denied nor confirmed', async () => {
    const { get } = await open({
      ...ODD,
      mounts: () => readyMount({}, { address: `${PAGE}/skills`, path: 'skills' }),
    })
    const pages = await Promise.all(['README.md', 'nothing.md'].map(path => get(`${PAGE}/skills?view=file&path=${path}`)))
    for (const [index, { status, html }] of pages.entries()) {
      const path = ['README.md', 'nothing.md'][index] ?? ''
      expect(status).toBe(404)
      expect(saidOf(html)).toContain(`This address shows only skills, and ${path} lies outside of it.`)
      expect(linksOf(html)).toContain(`${PAGE}?view=file&path=${path}`)
    }
  })

  test('an address that ends at it leads to its page, or says what it is', async () => {
    const mounts: Answers['mounts'] = ({ address }) =>
      address.endsWith('tools') ? readyMount() : refusal('mount.path_not_found')
    const { get } = await open({ ...ODD, mounts })
    expect(await get(`${PAGE}/code.ts`)).toMatchObject({ status: 302, headers: { location: `${PAGE}?view=file&path=code.ts` } })
    const below = await get(`${PAGE}/libs/other/deeper`)
    expect(below.status).toBe(404)
    expect(saidOf(below.html)).toContain('libs/other is a submodule')
  })
})

test('what is left out and what is absent are told alike, in words true for both', async () => {
  const { get } = await open(ODD)
  const pages = await Promise.all(['drafts/plan.md', 'absent/plan.md'].map(path => get(`${PAGE}?view=file&path=${path}`)))
  const [left, absent] = pages.map(({ html }) => html.replaceAll(/drafts|absent/g, 'x'))
  expect(left).toBe(absent)
  expect(saidOf(left ?? '')).toContain('Nothing to read at x: it is not there, or SKILLSET.md leaves it out.')
})

test('what is absent and what is left out lead alike to the nearest manifest that leaves out anything', async () => {
  const manifests: Record<string, string> = {
    'SKILLSET.md': '---\nname: All\nexclude: [drafts/**]\n---\n',
    'docs/SKILLSET.md': '---\nname: Docs\nexclude:\n  - plan*\n---\n',
    'docs/plain/SKILLSET.md': 'Answer briefly.\n',
  }
  const { get } = await open({
    ...ODD,
    files: ({ query }) => {
      const content = manifests[query.get('path') ?? '']
      return content === undefined ? refusal('file.not_found') : filePage({ path: query.get('path') ?? '', content })
    },
    browse: ({ query }) => {
      const path = query.get('path') ?? ''
      return ['', 'docs', 'docs/plain'].includes(path) ? browsePage({ path, entries: [] }) : refusal('mount.path_not_found')
    },
  })
  const pageOf = async (path: string) => (await get(`${PAGE}?view=file&path=${path}`)).html
  expect((await pageOf('drafts/plan.md')).replaceAll('drafts', 'x')).toBe(
    (await pageOf('absent/plan.md')).replaceAll('absent', 'x'),
  )
  expect(linksOf(await pageOf('drafts/plan.md'))).toContain(`${PAGE}?view=file&path=SKILLSET.md&look=exact#L3`)
  expect(linksOf(await pageOf('docs/plain/gone.md'))).toContain(`${PAGE}?view=file&path=docs/SKILLSET.md&look=exact#L4`)
  expect(linksOf(await pageOf('drafts/plan.md')).some(href => href.startsWith('/docs#'))).toBe(false)
})

test('where no manifest leaves out anything, the docs say what one may', async () => {
  const { get } = await open({ ...ODD, files: () => refusal('file.not_found') })
  const { html } = await get(`${PAGE}?view=file&path=absent/plan.md`)
  expect(linksOf(html)).toContain('/docs#what-is-left-out')
})

test('damaged and empty repositories lead on to others of their owner, and not to themselves', async () => {
  const reasons: Answers['mounts'] = ({ address }) =>
    address.includes('empty')
      ? refusal('mount.ref_not_found', { reason: 'empty' })
      : refusal('mount.unavailable', { reason: 'damaged' })
  const listLocal = async () => ['/local/acme/empty', '/local/acme/damaged', '/local/lone/damaged']
  const { get } = await open({ mounts: reasons }, { listLocal })
  for (const name of ['empty', 'damaged']) {
    const { html } = await get(`/local/acme/${name}`)
    expect(saidOf(html)).toContain('Other repositories of acme')
    expect(saidOf(html).includes('Come back after the first push.')).toBe(name === 'empty')
    expect(saidOf(html).includes('git fsck')).toBe(name === 'damaged')
    expect(saidOf(html)).not.toContain('Reload this page')
    expect(linksOf(html)).toContain('/owners/local/acme')
  }
  expect(linksOf((await get('/local/lone/damaged')).html)).not.toContain('/owners/local/lone')
})

test('damaged, empty and missing are three sentences, each with something to do', async () => {
  const { get } = await open({
    mounts: ({ address }) =>
      address.includes('empty')
        ? refusal('mount.ref_not_found', { reason: 'empty' })
        : address.includes('damaged')
          ? refusal('mount.unavailable', { reason: 'damaged' })
          : refusal('mount.ref_not_found'),
    refs: ({ address }) =>
      address.includes('damaged')
        ? refusal('mount.unavailable', { reason: 'damaged' })
        : {
            defaultBranch: 'main',
            branches: [],
            tags: address.includes('empty') ? [] : [{ name: 'v1' }, { name: 'v2' }],
            truncated: false,
          },
  })
  const said = async (address: string) => {
    const { status, html } = await get(address)
    expect(linksOf(html).length).toBeGreaterThan(0)
    expect(saidOf(html)).toContain('What you can do')
    return { status, words: saidOf(html) }
  }
  const missing = await said('/local/acme/tools@v9')
  expect(missing).toMatchObject({ status: 404, words: expect.stringContaining('Nothing here is called v9. Tags: v2, v1') })
  const empty = await said('/local/acme/empty')
  expect(empty).toMatchObject({ status: 404, words: expect.stringContaining('This repository has no commits yet.') })
  const damaged = await said('/local/acme/damaged')
  expect(damaged).toMatchObject({
    status: 503,
    words: expect.stringContaining('This repository is damaged; its operator finds the cause in the log.'),
  })
  for (const { words } of [missing, empty, damaged]) expect(words).not.toMatch(/mount\.|\b404\b|\b503\b/)
})

test('the Markdown of a folder has what agents get, and that of an error its code', async () => {
  const { get } = await open(ODD)
  const { html } = await get(`${PAGE}?view=browse&format=markdown`)
  expect(html).toContain('AGENTS.md')
  for (const name of ['code.ts', 'logo.png', '.github']) expect(html).not.toContain(name)
  const refused = await get(`${PAGE}?view=file&path=code.ts&format=markdown`)
  expect(refused.status).toBe(404)
  expect(refused.html).toContain('file.not_found')
})
