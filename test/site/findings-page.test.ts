import { expect, test } from 'vitest'
import type { ListedFinding } from '#core/contract/findings.ts'
import { FINDING_LEVELS } from '#core/finding-levels.ts'
import { withMessage } from '#core/finding-messages.ts'
import { finding } from '#words/findings.ts'
import { findingsPage, HOSTILE, type Question, readyMount } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const FINDINGS = `${PAGE}?view=findings`

function found(skill: string | null, change: Partial<ListedFinding> = {}): ListedFinding {
  const path = skill === null ? 'SKILLSET.md' : `${skill}/SKILL.md`
  return {
    code: 'body.long',
    level: 'style',
    path,
    message: 'longer than 500 lines or 20000 bytes',
    ...(skill === null ? {} : { skill: path }),
    ...change,
  }
}

const HIDDEN = {
  code: 'text.hidden_characters',
  level: 'look',
  line: 7,
  message: 'hidden characters (U+202E) on line 7',
} as const
const BROKEN = { code: 'reference.broken', level: 'breaks', line: 9, message: 'gone.md leads to nothing' } as const
const ITEMS = [
  found('skills/pdf', HIDDEN),
  found('skills/csv', BROKEN),
  found('skills/pdf', { ...BROKEN, line: 12 }),
  found(null, { code: 'manifest.unknown_field', level: 'breaks', message: 'a manifest has no such field', costsSkills: 2 }),
  found('skills/pdf'),
]

/** A repository with these findings, in pages as the interface cuts them. */
function listing(items: readonly ListedFinding[]) {
  return ({ query }: Question) => {
    const level = query.get('level')
    const asked = items.filter(item => (level ?? item.level) === item.level)
    const start = Number((query.get('cursor') ?? '').slice('at-'.length) || 0)
    const end = start + Number(query.get('limit') ?? 50)
    const { counts } = findingsPage(items)
    const cursor = `at-${end}`
    return findingsPage(asked.slice(start, end), { counts, nextCursor: end < asked.length ? cursor : null })
  }
}

const openWith = (items: readonly ListedFinding[]) => open({ mounts: () => readyMount(), findings: listing(items) })

test('findings stand by kind within three levels, each with a link to its line and its skill', async () => {
  const { get } = await openWith(ITEMS)
  const { status, html } = await get(FINDINGS)
  expect(status).toBe(200)
  const text = textOf(html)
  const places = ['Look at this', 'Hidden characters', 'Breaks', 'Broken link', 'Style', 'Long text']
  const at = places.map(place => text.lastIndexOf(place))
  expect(at).toEqual(at.toSorted((left, right) => left - right))
  expect(attributesOf(html, 'a', 'href')).toEqual(
    expect.arrayContaining([
      `${PAGE}?view=file&path=skills/pdf/SKILL.md&look=exact#L7`,
      `${PAGE}?view=skill&path=skills/csv/SKILL.md`,
      `${PAGE}?view=findings&path=skills/csv/SKILL.md`,
    ]),
  )
  expect(text).toContain('Keeps 2 skills from agents')
  expect(text).toContain('In 2 skills')
})

test('every finding is a stop of its own, and its code is in an attribute, not in a sentence', async () => {
  const { get } = await openWith(ITEMS)
  for (const url of [FINDINGS, `${FINDINGS}&by=skill`]) {
    const { html } = await get(url)
    const stops = [...html.matchAll(/<li class="item" id="(f\d+)" data-stop/g)].map(([, id]) => id)
    expect(stops).toEqual(ITEMS.map((_, index) => `f${index + 1}`))
    expect(html).toContain('data-code="text.hidden_characters"')
    expect(textOf(html)).not.toMatch(/text\.hidden_characters|reference\.broken|body\.long/)
  }
})

test('a name between backticks in a finding is set as code', async () => {
  const message = 'the field `tools` is not known'
  const { get } = await openWith([{ ...found('skills/pdf'), message }])
  const { html } = await get(FINDINGS)
  expect(html).toMatch(/<code>(?:<[^>]*>)*tools</)
  expect(html).not.toContain('`tools`')
})

test('the levels are links with the counts of the whole list, and show their findings alone', async () => {
  const { get } = await openWith(ITEMS)
  const { html } = await get(`${FINDINGS}&level=breaks`)
  const hrefs = attributesOf(html, 'a', 'href')
  for (const level of FINDING_LEVELS) expect(hrefs).toContain(`${FINDINGS}&level=${level}`)
  expect(textOf(html)).toContain('All 5 Look at this 1 Breaks 3 Style 1')
  expect(textOf(html)).not.toContain('hidden characters (U+202E)')
})

test('by skill the gravest come first, each skill once, whatever the page of the interface', async () => {
  const many = Array.from({ length: 230 }, (_, number) => found(`skills/s${String(number).padStart(3, '0')}`))
  const { get } = await openWith([found('skills/s229', HIDDEN), ...many])
  const headings = async (url: string) => {
    const { html } = await get(url)
    return [
      ...html.matchAll(
        /<h3>\s*<a href="[^"]*view=skill&#38;path=([^"]*)"|<h3>\s*<a href="[^"]*view=skill&amp;path=([^"]*)"|<h3>\s*<a href="[^"]*view=skill&path=([^"]*)"/g,
      ),
    ].map(match => match.slice(1).find(Boolean))
  }
  const first = await headings(`${FINDINGS}&by=skill`)
  expect(first).toHaveLength(50)
  expect(first[0]).toBe('skills/s229/SKILL.md')
  const second = await headings(`${FINDINGS}&by=skill&cursor=50`)
  expect(second).toHaveLength(50)
  expect(new Set([...first, ...second]).size).toBe(100)
})

test('a skill has its declared name everywhere, and by kind its path where the name does not tell it', async () => {
  const { get } = await openWith([
    { ...found('skills/pdf', HIDDEN), name: 'pdf' },
    { ...found('skills/old', HIDDEN), name: 'declared' },
    { ...found('a/csv', HIDDEN), name: 'csv' },
    { ...found('b/csv', HIDDEN), name: 'csv' },
    { ...found('skills/rules', { ...BROKEN, path: 'SKILLSET.md' }), skill: 'skills/rules/SKILL.md', name: 'rules' },
  ])
  const kinds = textOf((await get(FINDINGS)).html)
  for (const place of [
    // What all of a kind say stands above them.
    'pdf line 7',
    'declared skills/old/ line 7',
    'csv a/csv/ line 7',
    'csv b/csv/ line 7',
    'rules gone.md leads to nothing . SKILLSET.md line 9',
  ])
    expect(kinds).toContain(place)
  expect(kinds).not.toMatch(/skills\/pdf|skill pdf/)
  const skills = textOf((await get(`${FINDINGS}&by=skill`)).html)
  expect(skills).toContain('declared 1 skills/old/ Look at this hidden characters')
})

test('the list by kind goes on by its cursor', async () => {
  const { get } = await openWith(Array.from({ length: 130 }, (_, number) => found(`skills/s${number}`, { line: number + 1 })))
  const { html } = await get(FINDINGS)
  expect(attributesOf(html, 'a', 'href')).toContain(`${FINDINGS}&cursor=at-100&back=first`)
  const { html: second } = await get(`${FINDINGS}&cursor=at-100&back=first`)
  expect(attributesOf(second, 'a', 'href')).toContain(`${PAGE}?view=skill&path=skills/s129/SKILL.md`)
})

test('without any, a sentence says what was looked for, and the tab has its count', async () => {
  const { get } = await openWith([])
  const text = textOf((await get(FINDINGS)).html)
  expect(text).toContain('Nothing was found: no hidden characters or comments, and nothing wrong with')
  expect(text).toContain('Findings 0')
  expect(textOf((await get(FINDINGS, 'GET', { 'accept-language': 'de' })).html)).toContain('Nichts gefunden: ')
})

test('whatever was found, a line says that commands, hosts and scripts are shown elsewhere, and leads there', async () => {
  const skill = 'skills/csv/SKILL.md'
  for (const [items, query, skillHref, path] of [
    [[], '', `${PAGE}#skills`, ''],
    [[found('skills/csv', BROKEN)], '&level=look', `${PAGE}#skills`, ''],
    [[found('skills/csv', BROKEN)], `&path=${skill}`, `${PAGE}?view=skill&path=${skill}`, `&path=${skill}`],
  ] as const) {
    const { get } = await openWith(items)
    const { html } = await get(FINDINGS + query)
    expect(textOf(html)).toContain('Commands, hosts and scripts are not judged')
    expect(attributesOf(html, 'a', 'href')).toEqual(expect.arrayContaining([skillHref, `${PAGE}?view=changes${path}`]))
  }
})

test('a level without findings is named, with links to those that have some', async () => {
  const { get } = await openWith([found('skills/csv', BROKEN)])
  const { html } = await get(`${FINDINGS}&level=look`)
  expect(textOf(html)).toContain('Nothing of the level “Look at this”. There are others: Breaks 1 .')
  expect(attributesOf(html, 'a', 'href').filter(href => href === `${FINDINGS}&level=breaks`)).toHaveLength(2)
})

test('a page of a long list says which part of it is shown', async () => {
  const { get } = await openWith(Array.from({ length: 230 }, (_, number) => found(`skills/s${number}`, { line: number + 1 })))
  const said = async (query: string) => textOf((await get(FINDINGS + query)).html)
  expect(await said('')).toContain('1 to 100 of 230')
  expect(await said('')).toContain('100 on this page')
  expect(await said('&cursor=at-200&back=first,at-100')).toContain('201 to 230 of 230')
  // A link that was cut does not say how many pages lie before.
  expect(await said('&cursor=at-200')).not.toMatch(/\d to \d/)
  expect(await said('&by=skill&cursor=50')).toContain('51 to 100 of 230')
})

test('a skill with many findings shows the gravest, and unfolds the others', async () => {
  const { get } = await openWith(Array.from({ length: 20 }, (_, line) => found('skills/pdf', { ...BROKEN, line: line + 1 })))
  const { html } = await get(`${FINDINGS}&by=skill`)
  expect(textOf(html)).toContain('16 more findings')
})

test('what is not the same is said of each', async () => {
  const fields = ['title', 'rules'].map(field =>
    withMessage({ ...found(null, { level: 'breaks', field }), ...finding('manifest.unknown_field') }),
  )
  const { get } = await openWith(fields)
  const text = textOf((await get(FINDINGS)).html)
  expect(text).not.toContain('In each of them')
  for (const field of ['title', 'rules']) expect(text).toContain(`SKILLSET.md has no field ${field}`)
})

test('a finding of a folder leads to the folder, whatever its name, and one of a file without an ending to the file', async () => {
  const at = (code: string, path: string) => found(null, { code, level: 'style', path, message: 'x' })
  const { get } = await openWith([
    at('license.unrecognized', 'license-mit'),
    at('tree.submodule', 'sub/MODULE'),
    at('tree.limit', 'a.b'),
  ])
  const hrefs = attributesOf((await get(FINDINGS)).html, 'a', 'href')
  expect(hrefs).toEqual(
    expect.arrayContaining([
      `${PAGE}?view=file&path=license-mit`,
      `${PAGE}?view=browse&path=sub`,
      `${PAGE}?view=browse&path=a.b`,
    ]),
  )
})

test('the former view leads to this one', async () => {
  const { get } = await openWith([])
  const { status, headers } = await get(`${PAGE}?view=diagnostics`)
  expect(status).toBe(302)
  expect(headers.location).toBe(FINDINGS)
})

test('as Markdown every finding is a line with its level and code', async () => {
  const { get } = await openWith(ITEMS)
  const { html } = await get(`${FINDINGS}&format=markdown`)
  expect(html).toContain('- look `text.hidden_characters` skills/pdf/SKILL.md:7: hidden characters (U+202E) on line 7')
  expect(html.match(/^- /gm)).toHaveLength(ITEMS.length)
})

test('names of a repository stay text', async () => {
  const { get } = await openWith([found(HOSTILE, { message: HOSTILE })])
  for (const url of [FINDINGS, `${FINDINGS}&by=skill`]) {
    const { html } = await get(url)
    expect(html).not.toMatch(/<script>alert|<img src=x/)
    expect(html).toContain('class="hidden-character" data-code="U+202E"')
  }
})
