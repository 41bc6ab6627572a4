import { expect, test } from 'vitest'
import { placeAfter, placeBefore, readBack, startOf } from '#site/lib/pager.ts'
import { browsePage, findPage } from './support/answers.ts'
import { attributesOf, tagsOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const PAGES = 5

/** The page that a link of the pager leads to. */
function linked(html: string, rel: 'prev' | 'next'): string | undefined {
  return tagsOf(html)
    .filter(tag => tag.startsWith('<a ') && tag.includes(` rel="${rel}"`))
    .flatMap(tag => attributesOf(tag, 'a', 'href'))[0]
}

test.each(['?view=find&query=pdf', '?view=browse'])(
  'the pages of %s lead forward to the last one, and back to the first',
  async start => {
    const pageOf = (cursor: string | null) => {
      const number = Number(cursor?.slice(1) ?? 1)
      return { nextCursor: number === PAGES ? null : `c${number + 1}` }
    }
    const { get } = await open({
      find: ({ query }) => findPage(pageOf(query.get('cursor'))),
      browse: ({ query }) => browsePage(pageOf(query.get('cursor'))),
    })
    let target: string | undefined = PAGE + start
    const seen: string[] = []
    for (const rel of ['next', 'prev'] as const) {
      let html = ''
      while (target !== undefined) {
        seen.push(target)
        ;({ html } = await get(target))
        target = linked(html, rel)
      }
      target = linked(html, 'prev')
    }
    const cursors = seen.map(href => new URLSearchParams(href.replace(/^[^?]*/, '')).get('cursor'))
    expect(cursors).toEqual([null, 'c2', 'c3', 'c4', 'c5', 'c4', 'c3', 'c2', null])
    expect(seen.at(-1)).toBe(PAGE + start)
  },
)

test('a list of any length keeps its URL short, and an invalid list of cursors is dropped', () => {
  let place = { cursor: undefined as string | undefined, back: [] as readonly string[] }
  for (let number = 2; number <= 40; number++) place = placeAfter(place, `c${number}`)
  expect(place.back).toEqual(Array.from({ length: 12 }, (_, index) => `c${28 + index}`))
  expect(placeBefore(place)).toEqual({ cursor: 'c39', back: place.back.slice(0, -1) })
  expect(placeBefore({ cursor: 'c9', back: [] })).toBeNull()
  for (const text of ['', 'a b', 'a,,b', '"><b>', 'x'.repeat(301), Array.from({ length: 13 }, () => 'x').join(',')])
    expect(readBack(text)).toEqual([])
  expect(readBack('first,c2')).toEqual(['first', 'c2'])
})

test('a page says which entries it has, where its URL leads back to the first page', async () => {
  expect(startOf({ cursor: undefined, back: [] }, 50)).toBe(1)
  expect(startOf({ cursor: 'c2', back: ['first', 'c1'] }, 50)).toBe(101)
  expect(startOf({ cursor: 'c20', back: ['c8', 'c9'] }, 50)).toBeNull()
  const entries = [1, 2].map(number => ({ path: `d${number}.md`, kind: 'file' as const, size: 1 }))
  const { get } = await open({ browse: () => browsePage({ entries, nextCursor: 'more' }) })
  const textAt = async (query: string) => textOf((await get(`${PAGE}?view=browse${query}`)).html)
  expect(await textAt('&cursor=c1&back=first')).toContain('51 to 52')
  expect(await textAt('&cursor=c1&files=delivered&back=first')).not.toMatch(/\d to \d/)
})
