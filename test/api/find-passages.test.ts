import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SEARCHED_FILE_BYTES, SUMMARY_CHARACTERS } from '#core/limits.ts'
import { countCharacters } from '#core/text.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const HANDBOOK = '/local/acme/handbook'
const FILLER = 'Much else is told here, of other things and in other words. '

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'docs/garden.md': [
        '---\ntitle: The garden\nauthor: tulips\ndescription: What to do in which month.\n---',
        '# The garden\n\nIn January, rest.\n',
        FILLER.repeat(20),
        '## March\n\nPlant the **tulips** into [the northern bed](beds.md#north), `10 cm` deep.\n',
        FILLER.repeat(20),
        '## June\n\nCut the hedges &amp; water the northern wall.\n',
      ].join('\n\n'),
      'docs/marks.md': [
        '# Marks\n\nNothing yet.\n',
        '> ***Anemones*** are <b class="x">bold</b>, ~~not~~ ![a picture](anemone.png) and [linked][1].\n\n[1]: https://example.org/target\n',
        '- [ ] begonias in a list\n',
        '| dahlia | cell |\n|:---|---:|\n| crocus | other |\n',
        '```sh\nplant --freesia=now   # soon\n```\n',
        '<!-- gladiolus in a comment -->\n\nHyacinth beside <!-- hidden --> comments.\n',
        '<script>alert("iris")</script>\n\nIris outside of it.\n',
        'A \\*jasmine\\* escaped, &lt;tag&gt; and all.\n',
      ].join('\n'),
      'docs/long.md': `# Long\n\n${'𠮷野家🌱'.repeat(400)} lavender ${'𠮷野家🌱'.repeat(400)}\n`,
      'docs/marked.md': `# Marked\n\n${'e\u0301'.repeat(400)} lupin ${'e\u0301'.repeat(400)}\n`,
      'docs/families.md': `# Families\n\n${'👩‍👩‍👧‍👦'.repeat(100)} magnolia ${'🇩🇪'.repeat(300)}\n`,
      'docs/word.md': `# Word\n\n${'x'.repeat(3_000)} narcissus ${'y'.repeat(3_000)}\n`,
      'docs/lines.md': '# Lines\r\n\r\nOrchids\ttabbed\r\nand broken,\u2028with a\u00a0space.\r\n',
      'docs/bidi.md': '# Bidi\n\nPeonies \u202eereh\u202c and \u200bhidden\u2066 ones\u2069.\n',
      'docs/twice.md': `# Twice\n\nRoses.\n\n${FILLER.repeat(20)}\n\nRoses beside sunflowers.\n`,
      'docs/中文.md': `# 中文\n\n今天休息。\n\n${'其他的事情。'.repeat(100)}\n\n然后在花园里种郁金香，再浇水。\n`,
      'docs/thai.md': `# ไทย\n\nวันนี้พัก\n\n${'เรื่องอื่น ๆ '.repeat(60)}\n\nปลูกดอกทิวลิปในสวน\n`,
      'docs/huge.md': `# Huge\n\nThe beginning.\n\n${FILLER.repeat(Math.ceil(SEARCHED_FILE_BYTES / FILLER.length))}\n\nViolets at the very end.\n`,
      'docs/only-title.md': '# Wisteria\n\nA climber.\n',
      'docs/empty.md': '',
      'docs/bom.md': '\ufeff# Bom\n\nFirst.\n\nYarrow behind a mark.\n',
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [
          `edges/${at}.md`,
          `# Edge\n\nMarigold ${'x'.repeat(220 + at)}。${'yz '.repeat(200)}\n`,
        ]),
      ),
      'skills/plant/SKILL.md': skillText('plant', `${FILLER.repeat(10)}\n\nZinnias grow here.\n`),
      'skills/plant/references/asters.md': `# Asters\n\nWhat asters are.\n\n${FILLER.repeat(10)}\n\nDivide asters in spring.\n`,
      'skills/plant/asters.txt': `${FILLER.repeat(10)}\nAsters in a text.\n`,
      'skills/plant/asters.py': '# asters in code\n',
    },
  })
  await app.open(HANDBOOK)
})
afterAll(() => app.close())

/** What is shown of each file that matches, by path. */
async function shown(query: string): Promise<Record<string, { title: string; summary: string }>> {
  const { items } = await app.askReady('find', HANDBOOK, { query, limit: 25 })
  const files = items.flatMap(item => (item.kind === 'skill' ? item.files : [item]))
  return Object.fromEntries(files.map(({ path, title, summary }) => [path, { title, summary }]))
}

async function passage(query: string, path: string): Promise<string> {
  const file = (await shown(query))[path]
  if (!file) throw new Error(`${query} does not find ${path}`)
  return file.summary
}

describe('a document or file is shown', () => {
  test('with its title and the passage that answers the query best', async () => {
    const { title, summary } = (await shown('tulips'))['docs/garden.md'] ?? {}
    expect(title).toBe('The garden')
    expect(summary).toContain('Plant the tulips into the northern bed, 10 cm deep.')
    expect(await passage('water the wall', 'docs/garden.md')).toContain('Cut the hedges & water the northern wall.')
  })

  test('with the passage that has more of the query', async () => {
    expect(await passage('roses and sunflowers', 'docs/twice.md')).toContain('Roses beside sunflowers.')
    expect(await passage('northern wall', 'docs/garden.md')).toContain('northern wall')
  })

  test('with its own summary if only its title or path matches, or no part of its text', async () => {
    expect(await passage('wisteria', 'docs/only-title.md')).toBe('A climber.')
    expect(await passage('huge', 'docs/huge.md')).toBe('The beginning.')
    expect(await passage('which month', 'docs/garden.md')).toBe('What to do in which month.')
  })

  test('with the word that a misspelling stands for', async () => {
    expect(await passage('divide astres', 'skills/plant/references/asters.md')).toContain('Divide asters in spring.')
  })

  test.for([
    ['种郁金香', 'docs/中文.md', '然后在花园里种郁金香，再浇水。'],
    ['郁', 'docs/中文.md', '郁金香'],
    ['ทิวลิป', 'docs/thai.md', 'ปลูกดอกทิวลิปในสวน'],
    ['YARROW', 'docs/bom.md', 'Yarrow behind a mark.'],
  ] as const)('in any script: %s', async ([query, path, text]) => {
    expect(await passage(query, path)).toContain(text)
  })

  test('as part of its skill, prose with a passage, code with nothing but its name', async () => {
    const files = await shown('asters')
    expect(files).toEqual({
      'skills/plant/references/asters.md': { title: 'Asters', summary: expect.stringMatching(/asters/i) },
      'skills/plant/asters.txt': { title: 'asters.txt', summary: expect.stringContaining('Asters in a text.') },
      'skills/plant/asters.py': { title: 'asters.py', summary: '' },
    })
    expect(await passage('divide asters', 'skills/plant/references/asters.md')).toContain('Divide asters in spring.')
    expect(await shown('zinnias')).toEqual({})
  })

  test('alike on every page', async () => {
    const { items } = await app.askReady('find', HANDBOOK, { query: 'northern roses tulips', limit: 25 })
    const paged = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { items: unknown[]; nextCursor: string | null } = await app.askReady('find', HANDBOOK, {
        query: 'northern roses tulips',
        limit: 1,
        ...(cursor ? { cursor } : {}),
      })
      paged.push(...page.items)
      cursor = page.nextCursor
    }
    expect(paged).toEqual(items)
    expect(items.length).toBeGreaterThan(1)
  })
})

describe('a passage is plain text', () => {
  test.for([
    ['anemones', 'Anemones are bold, not'],
    ['begonias', 'begonias in a list'],
    ['hyacinth', 'Hyacinth beside'],
    ['iris', 'Iris outside of it.'],
    ['jasmine', 'A *jasmine* escaped, <tag> and all.'],
    ['crocus', 'crocus'],
    ['freesia', 'freesia=now'],
  ] as const)('%s', async ([query, text]) => {
    const summary = await passage(query, 'docs/marks.md')
    expect(summary).toContain(text)
    for (const mark of [
      '**',
      '~~',
      '](',
      '<b',
      '<!--',
      '-->',
      '[ ]',
      '|:',
      '```',
      'hidden',
      'alert',
      'anemone.png',
      'example.org',
    ])
      expect(summary).not.toContain(mark)
  })

  test('without front matter', async () => {
    for (const query of ['tulips', 'rest', 'january'])
      expect(await passage(query, 'docs/garden.md')).not.toMatch(/author|---|description:/)
  })

  test('without comments', async () => {
    const summary = (await shown('gladiolus'))['docs/marks.md']?.summary ?? ''
    expect(summary).not.toContain('gladiolus')
  })

  test('on one line, without what hides or turns text', async () => {
    expect(await passage('orchids', 'docs/lines.md')).toBe('Orchids tabbed and broken, with a space.')
    expect(await passage('peonies', 'docs/bidi.md')).toBe('Peonies ereh and hidden ones.')
  })
})

describe('a passage is short', () => {
  test.for([
    ['lavender', 'docs/long.md'],
    ['lupin', 'docs/marked.md'],
    ['magnolia', 'docs/families.md'],
    ['narcissus', 'docs/word.md'],
    ['tulips', 'docs/garden.md'],
  ] as const)('%s: shows the word, and splits no character', async ([query, path]) => {
    const summary = await passage(query, path)
    expect(summary).toContain(query)
    expect(countCharacters(summary)).toBeLessThanOrEqual(SUMMARY_CHARACTERS)
    expect(summary.isWellFormed()).toBe(true)
    expect(summary).not.toMatch(/\ufffd|^[\p{M}\u200d]/u)
  })

  test('wherever a sentence ends', async () => {
    const summaries = Object.values(await shown('marigold')).map(({ summary }) => summary)
    expect(summaries).toHaveLength(20)
    for (const summary of summaries) expect(countCharacters(summary)).toBeLessThanOrEqual(SUMMARY_CHARACTERS)
    expect(summaries.some(summary => summary.endsWith('x。'))).toBe(true)
  })

  test('for text behind the searched part of a file: it is neither found nor shown', async () => {
    expect(await shown('violets')).toEqual({})
  })

  test('for any query', async () => {
    const words = fc.constantFrom(
      'tulips',
      'the',
      'northern',
      'roses',
      'garden',
      'asters',
      'ทิวลิป',
      '郁金香',
      'lavender',
      'x',
      'much else',
      'bed',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 6 }), async query => {
        for (const { summary } of Object.values(await shown(query.join(' ')))) {
          expect(countCharacters(summary)).toBeLessThanOrEqual(SUMMARY_CHARACTERS)
          expect(summary.isWellFormed()).toBe(true)
          expect(summary).toBe(summary.trim())
          expect(summary).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]| {2}/u)
        }
      }),
      { numRuns: 60 },
    )
  })
})
