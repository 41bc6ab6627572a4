import { expect, test } from 'vitest'
import type { RefList } from '#core/contract/refs.ts'
import { COMMIT, readyMount, refusal } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const OTHER = 'b'.repeat(40)

function refList(refs: Partial<RefList> = {}): RefList {
  const branches = [
    { name: 'feature/x', commit: COMMIT },
    { name: 'main', commit: OTHER },
  ]
  return {
    defaultBranch: 'main',
    branches,
    tags: [{ name: 'v1.2' }, { name: 'v1.10' }, { name: 'main' }],
    truncated: false,
    ...refs,
  }
}

const pinned = () => readyMount({}, { address: `${PAGE}@${COMMIT}`, ref: COMMIT, pinned: true })

test('branches and tags lead to the same folder, the default branch and the latest version first', async () => {
  const { get } = await open({ refs: () => refList(), mounts: () => readyMount({}, { address: `${PAGE}/docs`, path: 'docs' }) })
  const { html } = await get(`${PAGE}?view=refs`)
  const links = attributesOf(html, 'a', 'href').filter(href => href.startsWith(PAGE) && href.endsWith('/docs'))
  expect(links.slice(links.indexOf(`${PAGE}@${OTHER}/docs`))).toEqual([
    `${PAGE}@${OTHER}/docs`,
    `${PAGE}@feature%2Fx/docs`,
    `${PAGE}@${COMMIT}/docs`,
    `${PAGE}@v1.10/docs`,
    `${PAGE}@v1.2/docs`,
    `${PAGE}@refs%2Ftags%2Fmain/docs`,
  ])
  expect(textOf(html)).toMatch(/main default shown now bbbbbbb feature\/x/)
  expect(textOf((await get(`${PAGE}/docs?view=refs&lang=de`)).html)).toContain('Branches und Tags')
  const markdown = await get(`${PAGE}/docs?view=refs&format=markdown`)
  expect(markdown.html).toContain('- tag [v1.10](')
})

test('the list of versions has a form for another ref of the same folder', async () => {
  const { get } = await open({ refs: () => refList() })
  const { html } = await get(`${PAGE}?view=refs`)
  const [form = ''] = html.match(/<form class="ref-form"[\s\S]*?<\/form>/) ?? []
  expect(form).toContain('action="/open"')
  expect(attributesOf(form, 'input', 'value')).toEqual(['/local/acme/tools'])
})

test('the overview leads to all refs, and has the date of its commit', async () => {
  const { get } = await open({ mounts: () => readyMount({ committedAt: '2026-03-04T05:06:07Z' }) })
  const { html } = await get(PAGE)
  expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=refs`)
  expect(attributesOf(html, 'time', 'datetime')).toContain('2026-03-04T05:06:07Z')
  expect(textOf(html)).toContain('4 Mar 2026')
})

test.each([
  ['a pinned commit', pinned, COMMIT, true],
  ['a tag', () => readyMount({}, { address: `${PAGE}@v1.2`, ref: 'v1.2' }), 'v1.2', true],
  ['another branch', () => readyMount({}, { address: `${PAGE}@feature%2Fx`, ref: 'feature/x' }), 'feature%2Fx', false],
])('a later commit of the default branch is shown for %s', async (_name, mounts, ref, isTold) => {
  const { get } = await open({ mounts, refs: () => refList() })
  const { html } = await get(`${PAGE}@${ref}?view=browse&path=docs`)
  expect(textOf(html).includes('main is at another commit now, bbbbbbb . What changed since , open main')).toBe(isTold)
  expect(attributesOf(html, 'a', 'href').filter(href => href === `${PAGE}?view=browse&path=docs`).length).toBe(isTold ? 1 : 0)
})

test('nothing is shown if the default branch is at the pinned commit, or the host does not answer', async () => {
  for (const refs of [() => refList({ branches: [{ name: 'main', commit: COMMIT }] }), () => refusal('mount.unavailable')]) {
    const { get, close } = await open({ mounts: pinned, refs })
    expect(textOf((await get(`${PAGE}@${COMMIT}`)).html)).not.toContain('another commit')
    await close()
  }
})

test('a cached page of a pinned commit is rendered again when the default branch moves', async () => {
  let commit = COMMIT
  const { get } = await open({ mounts: pinned, refs: () => refList({ branches: [{ name: 'main', commit }] }) })
  for (let turn = 0; turn < 2; turn++) expect(textOf((await get(`${PAGE}@${COMMIT}`)).html)).not.toContain('another commit')
  commit = OTHER
  expect(textOf((await get(`${PAGE}@${COMMIT}`)).html)).toContain('main is at another commit now')
})

test('a ref that does not exist leads to similar ones', async () => {
  const { get } = await open({ mounts: () => refusal('mount.ref_not_found'), refs: () => refList() })
  const links = async (ref: string) => attributesOf((await get(`${PAGE}@${ref}/docs`)).html, 'a', 'href')
  expect(await links('v1.11')).toContain(`${PAGE}@v1.10/docs`)
  expect(await links('feature-x')).toContain(`${PAGE}@feature%2Fx/docs`)
  expect(await links('v1.11')).toContain(`${PAGE}?view=refs`)
})

test('the form of two refs offers the default branch, the latest versions and the branches, and none with hidden characters', async () => {
  const names = ['latest', 'v1.2', 'v1.10', 'v1.10-rc.1', 'v1\u202e.3', ...Array.from({ length: 296 }, (_, index) => `a${index}`)]
  const tags = names.map(name => ({ name }))
  const { get } = await open({ refs: () => refList({ tags }), changes: () => refusal('mount.ref_not_found') })
  const { html } = await get(`${PAGE}?view=changes&from=v1.11`)
  const [from = '', to = ''] = html.match(/<select id="changes-.*?<\/select>/gs) ?? []
  expect(attributesOf(from, 'option', 'value').slice(0, 6)).toEqual(['v1.11', 'main', 'v1.10', 'v1.10-rc.1', 'v1.2', 'a295'])
  expect(attributesOf(to, 'option', 'value').slice(0, 2)).toEqual(['', 'v1.10'])
  expect(attributesOf(to, 'option', 'value')).toHaveLength(302)
  expect(attributesOf(to, 'option', 'value').slice(-3)).toEqual(['a0', 'latest', 'feature/x'])
  expect(attributesOf(to, 'optgroup', 'label')).toEqual(['Tags', 'Branches'])
  expect(attributesOf(html, 'input', 'name').filter(name => name.endsWith('-other'))).toEqual(['from-other', 'ref-other'])
  const alone = await open({ refs: () => refusal('mount.unavailable') })
  const without = (await alone.get(`${PAGE}?view=changes`)).html
  const lists = without.match(/<select id="changes-.*?<\/select>/gs) ?? []
  expect(lists.map(list => attributesOf(list, 'option', 'value'))).toEqual([[''], ['']])
  expect(textOf(without)).toContain('Name an older version')
})

test('versions that are the shown commit are not offered', async () => {
  const refs = (tags: { name: string; commit: string }[]) => () => refList({ branches: [{ name: 'main', commit: COMMIT }], tags })
  const offered = async (answer: ReturnType<typeof refs>) => {
    const site = await open({ refs: answer })
    const main = (await site.get(`${PAGE}?view=changes`)).html.replace(/^.*<main/s, '').replace(/<\/main.*$/s, '')
    const markdown = (await site.get(`${PAGE}?view=changes&format=markdown`)).html
    await site.close()
    return { main, links: attributesOf(main, 'a', 'href').filter(href => href.includes('from=')), markdown }
  }
  const only = await offered(refs([{ name: 'v1', commit: COMMIT }]))
  expect(only.links).toEqual([])
  expect(only.main).not.toContain('<select id="changes-')
  expect(attributesOf(only.main, 'input', 'name')).toContain('from-other')
  expect(only.markdown).not.toContain('from=v1')
})

test('the field for another ref wins over the list beside it', async () => {
  const { get } = await open({ refs: () => refList() })
  const { status, headers } = await get(`/open?address=${PAGE}&from=v1.2&from-other=abc1234&ref=main&ref-other=`)
  expect([status, headers.location]).toEqual([302, `${PAGE}@main?view=changes&from=abc1234`])
})

test('a comparison keeps the address as it was opened, where its new side is the shown one', async () => {
  for (const [address, ref] of [
    [PAGE, null],
    [`${PAGE}@v1.2`, 'v1.2'],
    [`${PAGE}@feature%2Fx/docs`, 'feature/x'],
    [`${PAGE}@${COMMIT}`, COMMIT],
  ] as const) {
    const mounts = () => readyMount({}, { address, ref })
    const { get, close } = await open({ mounts, refs: () => refList(), changes: () => refusal('mount.ref_not_found') })
    const { html } = await get(`${address}?view=changes&from=v1.11`)
    const [form = ''] = html.match(/<form class="changes-form".*?<\/form>/s) ?? []
    const [opened] = attributesOf(form, 'input', 'value')
    const [, to = ''] = form.match(/<select.*?<\/select>/gs) ?? []
    expect([opened, /<option value="([^"]*)" selected>/.exec(to)?.[1]]).toEqual([address, ''])
    const { headers } = await get(`/open?${new URLSearchParams({ address, from: 'v1.10', ref: '' })}`)
    expect(headers.location).toBe(`${address}?view=changes&from=v1.10`)
    await close()
  }
})

test('the tab keeps the older side that was chosen, until it leads nowhere', async () => {
  const tabOf = (html: string) => /<a href="([^"]*view=changes[^"]*)" aria-current/.exec(html)?.[1]
  const { get, close } = await open({ refs: () => refList(), changes: () => refusal('mount.ref_not_found') })
  expect(tabOf((await get(`${PAGE}?view=changes&from=v1.2`)).html)).toBe(`${PAGE}?view=changes`)
  await close()
  const side = { ref: null, commit: COMMIT, status: 'ready' } as const
  const none = { added: 0, removed: 0, changed: 0, moved: 0 }
  const changes = () => ({
    status: 'ready' as const,
    commit: COMMIT,
    from: { ...side, ref: 'v1.2', commit: OTHER },
    to: side,
    path: '',
    counts: { skills: none, documents: none, manifests: none },
    notCompared: { skills: 0, documents: 0 },
    items: [],
    diagnostics: [],
    nextCursor: null,
  })
  const site = await open({ refs: () => refList(), changes })
  expect(tabOf((await site.get(`${PAGE}?view=changes&from=v1.2`)).html)).toBe(`${PAGE}?view=changes&amp;from=v1.2`)
  await site.close()
})
