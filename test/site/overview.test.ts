import { describe, expect, test } from 'vitest'
import type { FindingLevel, SkillListing } from '#core/contract/shared.ts'
import { withLevel } from '#core/finding-messages.ts'
import { hiddenFolderOf } from '#site/lib/links.ts'
import { finding, reason } from '#words/findings.ts'
import { browsePage, filePage, findingsPage, findPage, type Question, readyMount, refusal, skillPage } from './support/answers.ts'
import { attributesOf, textOf, titleOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const MIT = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const CLOSED = { kind: 'restricted', name: 'Proprietary', source: null } as const

function skill(directory: string, more: Partial<SkillListing> = {}): SkillListing {
  const name = directory.slice(directory.lastIndexOf('/') + 1)
  return {
    path: `${directory}/SKILL.md`,
    directory,
    name,
    description: `Does ${name}.`,
    warnings: [],
    translations: {},
    license: MIT,
    ...more,
  }
}

const SKILLS = [
  ...['b/two', 'b/one', 'a/x/deep', 'top'].map(directory => skill(directory)),
  skill('b/closed', { license: CLOSED, describedOnly: true }),
  skill('a/x/odd', { warnings: [{ code: 'name.invalid', level: 'breaks', message: 'odd' }] }),
  ...[0, 1, 2, 3].map(index => skill(`c/s${index}`)),
]
const found = (directory: string, level: FindingLevel) => {
  const path = `${directory}/SKILL.md`
  return { code: 'body.long', level, path, message: 'long', skill: path }
}
const complete = (skills = SKILLS) =>
  readyMount({ skills, counts: { skills: skills.length, documents: 0 }, documents: [], license: MIT, manifest: undefined })

const skillsOf = (html: string) => [
  ...new Set(attributesOf(html, 'a', 'href').flatMap(href => /view=skill&path=(.*)\/SKILL\.md/.exec(href)?.[1] ?? [])),
]

test('that there are no instruction files is said only where it is certain', async () => {
  const NONE = 'No instruction files'
  const said = async (more: Parameters<typeof readyMount>[0], address = PAGE) => {
    const { get, close } = await open({ mounts: () => readyMount({ manifest: undefined, ...more }, { address }) })
    const { html } = await get(address)
    await close()
    return textOf(html).includes(NONE)
  }
  expect(await said({})).toBe(true)
  expect(await said({}, `${PAGE}/skills`)).toBe(false)
  expect(await said({ truncated: true })).toBe(false)
  expect(
    await said({ manifest: { path: 'SKILLSET.md', name: 'Kit', description: 'It.', language: null, translations: {} } }),
  ).toBe(false)
})

test('the numbers of rows are said to be tokens once, and that there are no skills is said once', async () => {
  const sized = await open({ mounts: () => complete([skill('a/one', { tokens: 2_300 }), skill('a/two', { tokens: 7 })]) })
  expect(textOf((await sized.get(PAGE)).html).match(/sizes in tokens/g)).toHaveLength(1)
  await sized.close()
  const plain = await open({ mounts: () => complete([skill('a/one')]) })
  expect(textOf((await plain.get(PAGE)).html)).not.toContain('sizes in tokens')
  await plain.close()
  const { get } = await open({ mounts: () => complete([]) })
  const text = textOf((await get(PAGE)).html)
  expect([text.includes('0 skills'), text.includes('No skills and no documents here.')]).toEqual([false, true])
})

test.each([
  ['.github/copilot-instructions.md', '.github'],
  ['a/.b/.c/d.md', 'a/.b'],
  ['a/b.md', null],
  ['.env', null],
  ['a.b/c.md', null],
])('the first hidden folder of %s is %s', (path, folder) => {
  expect(hiddenFolderOf(path)).toBe(folder)
})

test('what is read first says why it is not sent, and which name agents look for', async () => {
  const entry = (path: string, why?: 'not_delivered' | 'too_large') => ({
    kind: 'file' as const,
    path,
    size: 9,
    ...(why && { delivered: false as const, why }),
  })
  const COPILOT = '.github/copilot-instructions.md'
  const folders: Record<string, ReturnType<typeof entry>[]> = {
    '': [entry('Agents.md'), entry('CLAUDE.md', 'too_large'), entry('gemini.txt')],
    '.github': [entry(COPILOT, 'not_delivered')],
  }
  const files = ['CLAUDE.md', COPILOT].map(path => ({ path, size: 9, delivered: false }))
  const { get } = await open({
    mounts: () => readyMount({ readFirst: { files, nested: 0 } }),
    browse: ({ query }) => browsePage({ entries: folders[query.get('path') ?? ''] ?? [] }),
    files: () => refusal('file.not_found', { sourceUrl: 'https://host.example/x' }),
  })
  const { html } = await get(PAGE)
  const text = textOf(html)
  const said = [
    'CLAUDE.md 9 bytes · not sent: too large',
    '.github/copilot-instructions.md 9 bytes · not sent: .github is a hidden folder',
    'Agents.md 9 bytes · agents look for AGENTS.md',
  ]
  for (const line of said) expect(text).toContain(line)
  expect(said.map(line => text.indexOf(line))).toEqual(said.map(line => text.indexOf(line)).sort((left, right) => left - right))
  expect(text).not.toContain('gemini.txt')
  expect(textOf((await get(`${PAGE}?view=file&path=${COPILOT}`)).html)).toContain('.github is a hidden folder')
})

test('a hidden folder that is named spells its hidden characters', async () => {
  const path = '.x\u202e/CLAUDE.md'
  const { get } = await open({
    mounts: () => readyMount({ readFirst: { files: [{ path, size: 9, delivered: false }], nested: 0 } }),
    browse: () => browsePage({ entries: [{ kind: 'file', path, size: 9, delivered: false, why: 'not_delivered' }] }),
  })
  expect(textOf((await get(PAGE)).html)).toContain('not sent: .x[U+202E] is a hidden folder')
})

test.each([
  [2, 0, 0],
  [3, 0, 1],
  [4, 1, 2],
])('of %i files that are read first, with %i in folders below, %i are folded', async (count, nested, folded) => {
  const names = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cursorrules'].slice(0, count)
  const files = names.map(path => ({ path, size: 9, delivered: true }))
  const { get } = await open({ mounts: () => readyMount({ readFirst: { files, nested } }) })
  const { html } = await get(PAGE)
  for (const name of names) expect(textOf(html)).toContain(`${name} 9 bytes`)
  expect(/<summary>(\d) more files?</.exec(html)?.[1] ?? '0').toBe(String(folded))
})

test('the folder of one skill shows the skill in place of a list; one with several, and a repository, list them', async () => {
  const at = (path: string, skills: SkillListing[]) => async () => {
    const address = path === '' ? PAGE : `${PAGE}/${path}`
    const { get, close } = await open({
      mounts: () => readyMount({ skills, counts: { skills: skills.length, documents: 0 } }, { address, path }),
      skills: () => skillPage({ path: `${path}/SKILL.md`, directory: path, name: 'pdf', body: '# When to use\n\nAlways.\n' }),
    })
    const { html } = await get(address)
    const markdown = (await get(`${address}?format=markdown`)).html
    await close()
    return { html, text: textOf(html), markdown }
  }
  const one = await at('skills/pdf', [skill('skills/pdf')])()
  expect(one.text).toContain('When to use')
  expect(one.html).not.toContain('class="row"')
  expect(one.html.match(/<details class="use-it"/g)).toHaveLength(1)
  expect(titleOf(one.html)).toBe('pdf · local/acme/tools/skills/pdf · Mountglass')
  expect(one.markdown).toContain('1 skill')
  for (const other of [await at('skills/pdf', [skill('skills/pdf'), skill('skills/pdf/more')])(), await at('', [skill('')])()]) {
    expect(other.text).not.toContain('When to use')
    expect(other.html).toContain('class="row"')
  }
})

describe('a complete list of skills', () => {
  test('is grouped by folder, each with its count and its own address', async () => {
    const { get } = await open({ mounts: () => complete() })
    const { html } = await get(PAGE)
    expect(skillsOf(html)).toEqual(['top', 'a/x/deep', 'a/x/odd', 'b/two', 'b/one', 'b/closed', 'c/s0', 'c/s1', 'c/s2', 'c/s3'])
    expect(attributesOf(html, 'a', 'href')).toEqual(expect.arrayContaining([`${PAGE}/a/x`, `${PAGE}/b`, `${PAGE}/c`]))
    expect(textOf(html)).toContain('b 3')
  })

  const many = [...SKILLS, ...Array.from({ length: 20 }, (_, index) => skill(`d/t${index}`))]

  test.each([
    ['words=DOES+odd', ['a/x/odd'], '1 of 30 skills'],
    ['words=b/', ['b/two', 'b/one', 'b/closed'], '3 of 30 skills'],
    ['words=nothing+has+this', [], '0 of 30 skills'],
  ])('is filtered by %s, without a script', async (query, skills, words) => {
    const { get } = await open({ mounts: () => complete(many) })
    const { html } = await get(`${PAGE}?${query}`)
    expect(skillsOf(html)).toEqual(skills)
    expect(textOf(html)).toContain(words)
    expect(attributesOf(html, 'input', 'name').filter(name => name === 'words')).toHaveLength(1)
  })

  test('of fewer than thirty skills has no filter, and in one folder no heading', async () => {
    const { get } = await open({ mounts: () => complete(many.slice(0, 29)) })
    expect(attributesOf((await get(PAGE)).html, 'input', 'name')).not.toContain('words')
    const one = await open({ mounts: () => complete(SKILLS.slice(0, 2)) })
    expect((await one.get(PAGE)).html).not.toContain('class="group-name"')
    await one.close()
  })

  test('marks the skills with findings, and says why a text is withheld', async () => {
    const asked: string[] = []
    const { get } = await open({
      mounts: () => complete(),
      findings: ({ query }) => {
        asked.push(query.toString())
        return query.has('cursor')
          ? findingsPage([found('a/x/odd', 'style')], { nextCursor: null })
          : findingsPage([found('a/x/odd', 'look'), found('top', 'style')], { nextCursor: 'next' })
      },
    })
    const { html } = await get(PAGE)
    const text = textOf(html)
    // The skill has one warning and two findings; `top` has no warning.
    expect(text.match(/! [\w ]+: \d findings?: \S+/g)).toEqual(['! Style: 1 finding: top', '! Look at this: 2 findings: odd'])
    expect(attributesOf(html, 'a', 'title')).toContain('Look at this: 2 findings')
    expect([...html.matchAll(/class="row-mark" data-level="(\w+)"/g)].map(([, level]) => level)).toEqual(['style', 'look'])
    expect(asked).toEqual(['limit=200', 'cursor=next&limit=200'])
    expect(attributesOf((await get(PAGE)).html, 'a', 'href')).toContain(`${PAGE}?view=findings&path=a/x/odd/SKILL.md`)
    expect(text).toContain('text withheld')
    // The page of the skill says why.
    expect(html).toContain(`<a href="${PAGE}?view=skill&amp;path=b/closed/SKILL.md">text withheld</a>`)
  })
})

describe('more skills than an overview lists', () => {
  const counts = { skills: 1_200, documents: 0 }
  const mounts = () => readyMount({ counts, documents: [] })

  test('are shown as the folders in which they branch', async () => {
    const asked: (string | null)[] = []
    const { get } = await open({
      mounts,
      browse: ({ query }) => {
        const path = query.get('path') ?? ''
        asked.push(path)
        if (path === '')
          return browsePage({
            entries: [
              { path: 'skills', kind: 'directory', counts },
              { path: 'docs', kind: 'directory', counts: { skills: 0, documents: 3 } },
            ],
          })
        if (path === 'skills/a')
          return browsePage({
            path,
            entries: [{ path: 'skills/a/deep', kind: 'directory', counts: { skills: 999, documents: 0 } }],
          })
        if (path === 'skills/b') return refusal('mount.unavailable')
        return browsePage({
          path,
          entries: [
            { path: 'skills/a', kind: 'directory', counts: { skills: 1_000, documents: 0 } },
            { path: 'skills/b', kind: 'directory', counts: { skills: 199, documents: 0 } },
            {
              path: 'skills/one',
              kind: 'directory',
              counts: { skills: 1, documents: 0 },
              skill: skill('skills/one'),
              license: MIT,
            },
          ],
          nextCursor: 'next',
        })
      },
    })
    const { html } = await get(PAGE)
    expect(asked).toEqual(['', 'skills', 'skills/a', 'skills/b'])
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([`${PAGE}/skills`, `${PAGE}/skills/a`, `${PAGE}/skills/a/deep`, `${PAGE}?path=skills&cursor=next`]),
    )
    expect(textOf(html)).toContain('deep / 999')
    expect(skillsOf(html)).toEqual(['skills/one'])
  })

  test('are continued where the list was cut', async () => {
    const asked: Question[] = []
    const { get } = await open({
      mounts,
      browse: question => {
        asked.push(question)
        return browsePage({
          path: 'skills',
          entries: [{ path: 'skills/z', kind: 'directory', counts: { skills: 9, documents: 0 } }],
        })
      },
    })
    const { html } = await get(`${PAGE}?path=skills&cursor=next`)
    expect(asked.some(({ query }) => query.get('cursor') === 'next')).toBe(true)
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}/skills/z`)
    expect(textOf(html)).toContain('First page')
  })

  const inFolder = (folder: string, numbers: readonly number[]) => numbers.map(number => skill(`${folder}/s${number}`))
  const ALL = [...inFolder('skills/g10', [1]), ...inFolder('skills/g2', [11, 2]), ...inFolder('skills/g20', [5])]
  const groups = ['g10', 'g2', 'g20'].map((name, index) => {
    return { path: `skills/${name}`, kind: 'directory' as const, counts: { skills: index + 1, documents: 0 } }
  })
  const known = async (all: SkillListing[] = ALL, items = [found('skills/g2/s2', 'look'), found('skills/g20/s5', 'style')]) =>
    await open(
      {
        mounts: () => readyMount({ counts: { skills: 1_200, documents: 0 }, documents: [], license: MIT }),
        browse: () =>
          browsePage({
            path: 'skills',
            entries: [...groups, ...['x', 'y'].map(name => ({ ...groups[0], path: `skills/${name}` }) as (typeof groups)[0])],
          }),
        findings: () => findingsPage(items),
      },
      { skills: () => async () => all },
    )

  test('stand by folders in the order of people, each with its number, its names, and what was found in it', async () => {
    const { get } = await known()
    const { html } = await get(PAGE)
    const text = textOf(html)
    expect(text).toMatch(
      /g2 \/ 2 skills ! Look at this: 1 finding: g2 s2 , s11 g10 \/ 1 skills s1 · Does s1\. g20 \/ 3 skills ! Style: 1 finding: g20 s5/,
    )
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=findings&path=skills/g2`)
    const without = await known([skill('skills/g10/s1', { description: '' })])
    expect(textOf((await without.get(PAGE)).html)).toMatch(/g10 \/ 1 skills s1 g20/)
    // A row of a folder has not all words of its skills: these are asked for by Enter.
    expect(attributesOf(html, 'input', 'name')).toContain('words')
    expect(attributesOf(html, 'input', 'data-filters')).toEqual([])
  })

  test('are filtered by words in all of them, without a script', async () => {
    const { get } = await known()
    const { html } = await get(`${PAGE}?words=s1`)
    expect(skillsOf(html)).toEqual(['skills/g2/s11', 'skills/g10/s1'])
    expect(textOf(html)).toContain('2 of 1,200 skills.')
    const many = await known(
      inFolder(
        'skills/g2',
        Array.from({ length: 130 }, (_, number) => number),
      ),
    )
    const cut = (await many.get(`${PAGE}?words=g2`)).html
    expect(skillsOf(cut)).toHaveLength(100)
    expect(textOf(cut)).toContain('The first 100 are listed')
  })

  test('lead on to the folders where these cannot be read', async () => {
    const { get } = await open({ mounts, browse: () => refusal('mount.unavailable') })
    const { html } = await get(PAGE)
    expect(textOf(html)).toContain('Browse all 1,200 skills')
    expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=browse`)
  })
})

test('the README of the folder is rendered below, and one that may not be shown is left out', async () => {
  const overview = { path: 'README.md', title: 'Kit', description: null }
  const shown = await open({
    browse: () => browsePage({ overview }),
    files: () => filePage({ path: 'README.md', content: '# Kit\n\nHow to *begin*, see [skill](skills/pdf/SKILL.md).\n' }),
  })
  const { html } = await shown.get(PAGE)
  expect(html).toContain('How to <em>begin</em>')
  expect(html).toContain('id="readme-kit"')
  await shown.close()
  const withheld = await open({ browse: () => browsePage({ overview }), files: () => refusal('file.not_served') })
  expect((await withheld.get(PAGE)).html).not.toContain('id="readme"')
})

test('the repository at its host is one link away, at the commit and the folder', async () => {
  const { get } = await open(
    { mounts: () => readyMount({}, { address: '/gh/acme/tools/a%20b' }) },
    { hosts: ['gh'], hostUrls: { gh: 'https://github.com' } },
  )
  const { html } = await get('/gh/acme/tools/a%20b')
  expect(attributesOf(html, 'a', 'href')).toContain(
    'https://github.com/acme/tools/tree/a1b2c3d4e5f60718293a4b5c6d7e8f9012345678/a%20b',
  )
})

test('the overview says that parts may be missing, with the number of findings', async () => {
  const remark = (code: string, severity: 'error' | 'info', path: string) => ({ code, severity, path, message: `about ${path}` })
  const diagnostics = [
    remark('license.unrecognized', 'info', 'a/LICENSE'),
    remark('manifest.unreadable', 'error', 'x/SKILLSET.md'),
    remark('license.unrecognized', 'info', 'b/LICENSE'),
    remark('new.code', 'info', ''),
  ]
  const { get } = await open({ mounts: () => readyMount({ diagnostics }) })
  const overview = textOf((await get(PAGE)).html)
  expect(overview).toContain('Parts of this repository may be missing: 1 finding')
})

test('a finding with a line links to it, in the source of its file', async () => {
  const warnings = [
    withLevel(finding('text.html_comment', { lines: reason('lines', { list: '12, 40' }) })),
    withLevel(finding('text.html_comment:in', { path: 'shared/a.md', lines: reason('line', { n: 2 }) })),
  ]
  const { get } = await open({ skills: () => skillPage({ warnings }) })
  const linesOf = async (target: string) =>
    attributesOf((await get(target)).html, 'a', 'href').filter(href => href.includes('#L'))
  expect(await linesOf(SKILL)).toEqual([
    `${PAGE}?view=file&path=skills/pdf/SKILL.md&look=exact#L12`,
    `${PAGE}?view=file&path=shared/a.md&look=exact#L2`,
  ])
})

test.each([
  ['en', 'a quote is not closed on line 3', 'line 3', 'lines 12, 40'],
  ['de', 'in Zeile 3 ist ein Anführungszeichen nicht geschlossen', 'Zeile 3', 'den Zeilen 12, 40'],
])('a warning has its line once, as the link to it (%s)', async (language, sentence, line, lines) => {
  const warnings = [
    withLevel(finding('front_matter.invalid', { why: reason('openQuote', { n: 3 }) })),
    withLevel(finding('text.html_comment', { lines: reason('lines', { list: '12, 40' }) })),
  ]
  const { get } = await open({ skills: () => skillPage({ warnings }) })
  const { html } = await get(SKILL, 'GET', { 'accept-language': language })
  const linkTexts = [...html.matchAll(/<a href="[^"]*#L\d+">([\s\S]*?)<\/a>/g)].map(([, text = '']) => textOf(text))
  expect(linkTexts).toEqual([lines, line])
  expect(textOf(html)).toContain(sentence)
  expect(textOf(html).split(line)).toHaveLength(2)
})

test('a description that was taken from the text of a skill is marked in lists and on its page', async () => {
  const own = { ...skill('skills/pdf', { description: 'See gone things first.' }), files: [], moreFiles: 0 }
  const warning = withLevel({ ...finding('description.missing'), field: 'description' })
  const { get } = await open({
    mounts: () => complete([{ ...own, warnings: [warning] }, skill('skills/csv')]),
    findings: () => findingsPage([{ ...found('skills/pdf', 'breaks'), code: 'description.missing' }]),
    browse: () =>
      browsePage({
        entries: [
          { path: 'skills/pdf', kind: 'directory', counts: { skills: 1, documents: 0 }, skill: own },
          { path: 'skills/csv', kind: 'directory', counts: { skills: 1, documents: 0 }, skill: skill('skills/csv') },
        ],
      }),
    find: () => findPage({ items: [{ ...own, kind: 'skill' }] }),
    skills: () => skillPage({ description: own.description, warnings: [warning] }),
  })
  for (const page of [PAGE, `${PAGE}?view=browse`, `${PAGE}?view=find&query=gone`, SKILL]) {
    const text = textOf((await get(page)).html)
    expect(text).toContain('From the text: See gone things first.')
    expect(text.split('From the text:')).toHaveLength(2)
  }
  expect(textOf((await get(SKILL, 'GET', { 'accept-language': 'de' })).html)).toContain('Aus dem Text: See gone things first.')
})
