import { expect, test } from 'vitest'
import type { ChangesAnswer, ChangesPage } from '#core/contract/changes.ts'
import type { RefList } from '#core/contract/refs.ts'
import { COMMIT, readyMount, refusal } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

/* What a comparison says besides its list: what it waits for, what failed, what is not there, and which side is the newer one. */

useOpenedSite()

const OTHER = 'b'.repeat(40)
const COMPARISON = `${PAGE}?view=changes&from=v1`
const none = { added: 0, removed: 0, changed: 0, moved: 0 }
const ready = { ref: null, commit: COMMIT, status: 'ready' } as const
const older = { ref: 'v1', commit: OTHER } as const
const same: ChangesPage = {
  status: 'ready',
  commit: COMMIT,
  from: { ...older, status: 'ready' },
  to: ready,
  path: '',
  counts: { skills: none, documents: none, manifests: none },
  notCompared: { skills: 0, documents: 0 },
  items: [],
  diagnostics: [],
  nextCursor: null,
}
const refs = (tags: RefList['tags']): RefList => ({
  defaultBranch: 'main',
  branches: [{ name: 'main', commit: COMMIT }],
  tags,
  truncated: false,
})
const main = (html: string) => textOf(html.slice(html.indexOf('<main')))

test('the side that is being indexed is named once, with the stage of its own job', async () => {
  const { get } = await open({
    mounts: ({ address }) =>
      readyMount(
        {},
        address.includes('@v1') ? { index: { status: 'indexing', stage: 'content' }, ref: 'v1', commit: OTHER } : {},
      ),
    changes: () => ({ status: 'indexing', commit: COMMIT, from: { ...older, status: 'indexing' }, to: ready }),
    refs: () => refs([{ name: 'v1', commit: OTHER }]),
  })
  const { html } = await get(COMPARISON)
  expect(main(html)).toContain('v1 (bbbbbbb) is being indexed This usually takes a few seconds.')
  expect(html.match(/being indexed/g)).toHaveLength(1)
  expect(/<li[^>]*aria-current="step"[^>]*>([^<]+)</.exec(html)?.[1]).toBe('Reading skills and documents')
  expect(main((await get(`${COMPARISON}&since=${Date.now() - 61_000}`)).html)).toContain('v1 (bbbbbbb) is still being indexed')
  expect(main((await get(`${COMPARISON}&lang=de`)).html)).toContain('v1 (bbbbbbb) wird indexiert Das dauert')
})

test('both sides are named while both are being indexed; one that failed stands alone', async () => {
  const changes = (answer: ChangesAnswer) => ({ changes: () => answer, refs: () => refs([{ name: 'v1', commit: OTHER }]) })
  const indexing = 'indexing' as const
  const both = await open(
    changes({ status: indexing, commit: COMMIT, from: { ...older, status: indexing }, to: { ...ready, status: indexing } }),
  )
  expect(main((await both.get(COMPARISON)).html)).toContain(`v1 (bbbbbbb) and main (${COMMIT.slice(0, 7)}) are being indexed`)
  await both.close()
  const failure = { errorCode: 'index.too_large', retryAt: '2026-03-04T05:06:07Z' } as const
  const failed = await open(
    changes({
      status: 'failed',
      commit: COMMIT,
      from: { ...older, status: 'failed', ...failure },
      to: { ...ready, status: indexing },
      ...failure,
    }),
  )
  const words = main((await failed.get(COMPARISON)).html)
  expect(words).toContain('v1 (bbbbbbb) could not be indexed The repository exceeds the limits')
  expect(words).not.toContain('being indexed')
})

test('an older side that is not there leads to the versions that are', async () => {
  const { get } = await open({ changes: () => refusal('mount.ref_not_found'), refs: () => refs([{ name: 'v1', commit: OTHER }]) })
  const { status, html } = await get(`${PAGE}?view=changes&from=v9`)
  expect(status).toBe(404)
  expect(main(html)).toMatch(/Nothing here is called v9\. .*Compare with v1/)
  expect(attributesOf(html, 'a', 'href')).toContain(COMPARISON)
})

test('a beginning of several commits is no name of nothing', async () => {
  const commits = ['1234567', '1234567f'].map(start => start.padEnd(40, '0'))
  const { get } = await open({
    changes: () => refusal('mount.ref_not_found'),
    refs: () => refs(commits.map((commit, at) => ({ name: `t${at}`, commit }))),
  })
  const { status, html } = await get(`${PAGE}?view=changes&from=1234567`)
  expect(status).toBe(404)
  expect(main(html)).toContain('Several commits begin with 1234567. Choose one of them above.')
  expect(main(html)).not.toContain('Nothing here')
  for (const commit of commits) expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=changes&from=${commit}`)
})

test('a comparison with a newer version says so, and leads to the other way round', async () => {
  const dated = (from: string, to: string) =>
    open({
      changes: () => same,
      refs: () =>
        refs([
          { name: 'v1', commit: OTHER, date: `${from}T00:00:00Z` },
          { name: 'now', commit: COMMIT, date: `${to}T00:00:00Z` },
        ]),
    })
  const turned = await dated('2026-02-02', '2026-02-01')
  const { html } = await turned.get(COMPARISON)
  expect(main(html)).toContain('The left version is the newer one')
  expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}@v1?view=changes&from=main`)
  await turned.close()
  const usual = await dated('2026-02-01', '2026-02-02')
  expect(main((await usual.get(COMPARISON)).html)).not.toContain('left version')
})

test('a page of a long list without anything of its kind says so, and leads on', async () => {
  const counts = { ...same.counts, skills: { ...none, changed: 1 }, documents: { ...none, changed: 2 } }
  const items: ChangesPage['items'] = [
    { kind: 'document', path: 'a.md', title: 'A', change: 'changed', parts: [], before: null, after: null, facts: {} },
  ]
  const { get } = await open({
    changes: ({ query }) => {
      const at = Number(query.get('cursor')?.slice(1) ?? 0)
      return { ...same, counts, items, nextCursor: `c${at + 1}` }
    },
    refs: () => refs([{ name: 'v1', commit: OTHER }]),
  })
  const first = (await get(COMPARISON)).html
  expect(main(first)).toContain('No skill is among the changes that this page searched. The next page searches further.')
  const next = /href="([^"]*cursor=skill~c5[^"]*)"/.exec(first)?.[1]?.replaceAll('&#38;', '&').replaceAll('&amp;', '&') ?? ''
  expect(main((await get(next)).html)).toContain('No skill is among the changes that this page searched.')
  expect(main((await get(`${COMPARISON}&cursor=document~c5`)).html)).not.toContain('searches further')
})
