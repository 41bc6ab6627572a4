import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawBadge } from '#api/pictures/badge.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture, expectPicture, getPicture } from './support/pictures.ts'

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\nlicense: MIT\n---\nDo it.\n`
const SVG = 'image/svg+xml; charset=utf-8'

let at: TestApp
beforeAll(async () => {
  at = await testApp(
    {
      'acme/tools': { 'a/SKILL.md': skill('a'), 'b/one/SKILL.md': skill('one'), 'b/two/SKILL.md': skill('two') },
      'acme/later': { 'a/SKILL.md': skill('a') },
      'acme/large': { 'a/SKILL.md': skill('a') },
      'acme/denied': { 'a/SKILL.md': skill('a') },
      'acme/hidden': { 'a/SKILL.md': skill('a') },
    },
    { github: { withToken: false }, deps: deps => ({ ...deps, deny: [({ repository }) => repository === 'denied'] }) },
  )
  await at.github.shown('acme', 'hidden', { visibility: 'private' })
  await at.open('/local/acme/tools')
})
afterAll(() => at.close())

const wordsOf = (svg: Buffer) => /<title>Mountglass: (.*)<\/title>/.exec(svg.toString())?.[1]

describe('the badge of an address', () => {
  test('counts the skills of the mount, and is kept for an hour', async () => {
    const cache = 'public, max-age=3600'
    const { bytes } = await expectPicture(at, '/badge/local/acme/tools', { type: SVG, cache })
    expect(wordsOf(bytes)).toBe('3 skills')
    expect(wordsOf((await expectPicture(at, '/badge/local/acme/tools@main/b', { type: SVG, cache })).bytes)).toBe('2 skills')
    expect(wordsOf((await getPicture(at, '/badge/local/acme/tools/a')).bytes)).toBe('1 skill')
  })

  test('starts indexing, says so, and is kept for a minute until the index is ready or has failed', async () => {
    const cache = 'public, max-age=60'
    for (const name of ['later', 'large'])
      expect(wordsOf((await expectPicture(at, `/badge/local/acme/${name}`, { type: SVG, cache })).bytes)).toBe('indexing')
    const leases = [await at.queue.take('test'), await at.queue.take('test')]
    for (const lease of leases) if (lease?.job.repository.name === 'large') await at.queue.fail(lease, 'index.too_large')
    expect(wordsOf((await expectPicture(at, '/badge/local/acme/large', { type: SVG, cache })).bytes)).toBe('unavailable')
  })

  test('is shown by whatever query a page adds', async () => {
    expect((await getPicture(at, '/badge/local/acme/tools?v=2&v=3')).status).toBe(200)
  })
})

test('what is no address, not there, not served or not public is the same plain 404', async () => {
  for (const address of [
    '/',
    '/local',
    '/local/acme',
    '/nowhere/acme/tools',
    '/local/acme/tools@',
    '/local/acme/tools/%zz',
    '/local/acme/nothing',
    '/local/acme/tools@nothing',
    '/local/acme/tools/nothing',
    '/local/acme/denied',
    '/gh/acme/hidden',
    '/gh/acme/nothing',
  ])
    await expectNoPicture(at, `/badge${address}`)
})

test('a host that cannot be asked is no missing picture', async () => {
  at.github.faults.add({ status: 500, times: 99 })
  const { status, headers, bytes } = await getPicture(at, '/badge/gh/acme/tools')
  expect([status, bytes.toString(), headers['cache-control']]).toEqual([503, 'not available now\n', 'no-store'])
  at.github.faults.clear()
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
