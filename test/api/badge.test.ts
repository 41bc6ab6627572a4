import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawBadge } from '#api/pictures/badge.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { shownPicture } from './support/pictures.ts'

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\nlicense: MIT\n---\nDo it.\n`

let at: TestApp
beforeAll(async () => {
  at = await testApp({
    'acme/tools': { 'a/SKILL.md': skill('a'), 'b/one/SKILL.md': skill('one'), 'b/two/SKILL.md': skill('two') },
    'acme/later': { 'a/SKILL.md': skill('a') },
    'acme/large': { 'a/SKILL.md': skill('a') },
  })
  await at.open('/local/acme/tools')
})
afterAll(() => at.close())

const wordsOf = (svg: Buffer) => /<title>Mountglass: (.*)<\/title>/.exec(svg.toString())?.[1]

describe('the badge of an address', () => {
  test('counts the skills of the mount', async () => {
    for (const [address, words] of [
      ['/local/acme/tools', '3 skills'],
      ['/local/acme/tools@main/b', '2 skills'],
      ['/local/acme/tools/a', '1 skill'],
    ] as const)
      expect(wordsOf((await shownPicture(at, `/badge${address}`)).bytes)).toBe(words)
  })

  test('starts indexing, and shows the state until the index is ready or has failed', async () => {
    for (const name of ['later', 'large'])
      expect(wordsOf((await shownPicture(at, `/badge/local/acme/${name}`)).bytes)).toBe('indexing')
    const leases = [await at.queue.take('test'), await at.queue.take('test')]
    for (const lease of leases) if (lease?.job.repository.name === 'large') await at.queue.fail(lease, 'index.too_large')
    expect(wordsOf((await shownPicture(at, '/badge/local/acme/large')).bytes)).toBe('unavailable')
  })

  test('ignores the query that a page adds to its URL', async () => {
    await shownPicture(at, '/badge/local/acme/tools?v=2&v=3')
  })
})

describe('the drawing', () => {
  test.each([
    ['ready', { status: 'ready', skills: 12 }],
    ['one', { status: 'ready', skills: 1 }],
    ['indexing', { status: 'indexing' }],
    ['unavailable', { status: 'failed' }],
  ] as const)('%s is the golden one', async (name, state) => {
    const golden = join(import.meta.dirname, '../fixtures/golden/badges', `${name}.svg`)
    expect(drawBadge(state)).toBe(await readFile(golden, 'utf8'))
  })

  test('is 20 pixels high, grows with the number, and has no text that is not in its title', () => {
    const widths = [1, 10, 100, 100_000].map(skills => {
      const svg = drawBadge({ status: 'ready', skills })
      expect(svg).toContain(' height="20"')
      const texts = [...svg.matchAll(/<text x="([\d.]+)" y="14" textLength="([\d.]+)">([^<]*)<\/text>/g)]
      expect(texts.map(([, , , text]) => text)).toEqual(['Mountglass', `${skills} ${skills === 1 ? 'skill' : 'skills'}`])
      const width = Number(/ width="([\d.]+)"/.exec(svg)?.[1])
      for (const [, x, length] of texts) expect(Number(x) + Number(length)).toBeLessThan(width)
      return width
    })
    expect(widths).toEqual(widths.toSorted((left, right) => left - right))
  })
})
