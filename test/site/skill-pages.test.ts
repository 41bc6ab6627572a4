import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keepFinding } from '#core/finding-messages.ts'
import { ANSWERS_PER_PAGE, ANSWERS_READ, joinPages } from '#site/lib/delivery.ts'
import { PAGES as en } from '#words/en/en.ts'
import { finding, messageOf, reason } from '#words/findings.ts'
import { filePage, findingsPage, type Question, readyMount, refusal, skillPage, whole } from './support/answers.ts'
import { attributesOf, exactTextsOf, textOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const BODY = Array.from({ length: 30 }, (_, index) => `part ${index}\n`)

const skillsOf = ({ index }: ReturnType<typeof readyMount>) => (index.status === 'ready' ? index.skills : [])

/** A skill of 30 pages, each with a part of its body. */
function pageAt(index: number) {
  const offset = BODY.slice(0, index).join('').length
  const content = BODY[index] ?? ''
  const isLast = index === BODY.length - 1
  const totalLength = BODY.join('').length
  const fragment = { index, offset, length: content.length, totalLength, totalBytes: totalLength, totalTokens: 9, last: isLast }
  return skillPage({ body: content, bodyFragment: fragment }, { complete: isLast, nextCursor: isLast ? null : `p${index + 1}` })
}

async function openLong() {
  const questions: Question[] = []
  const { get } = await open({
    skills: question => {
      questions.push(question)
      return pageAt(Number(question.query.get('cursor')?.slice(1) ?? 0))
    },
  })
  return { get, questions }
}

const exact = (parameters: string) => `${SKILL}${parameters}&look=exact`

/** The text of a page of the site. */
const textAt = (page: number) => BODY.slice((page - 1) * ANSWERS_PER_PAGE, page * ANSWERS_PER_PAGE).join('')

test('pages of four answers are walked forward and back by their number, and behind the last numbered one by a cursor', async () => {
  const { get } = await openLong()
  let href = exact('')
  const last = ANSWERS_READ / ANSWERS_PER_PAGE
  for (let page = 1; page <= last; page++) {
    const { html } = await get(href)
    expect(exactTextsOf(html)).toEqual([textAt(page)])
    expect(textOf(html)).toContain(`Page ${page}`)
    const next = page < last ? `page=${page + 1}` : `cursor=p${ANSWERS_READ}`
    href = attributesOf(html, 'a', 'href').find(link => link.includes(next)) ?? ''
  }
  expect(exactTextsOf((await get(href)).html)).toEqual([textAt(last + 1)])
  const back = attributesOf((await get(exact('&page=3'))).html, 'a', 'href').find(link => link.includes('page=2&look')) ?? ''
  expect(exactTextsOf((await get(back)).html)).toEqual([textAt(2)])
})

test('a page that others follow ends before a heading near its end, and the next one begins with it', async () => {
  const at = (index: number) => `${'words\n'.repeat(20)}${index === 3 ? '## Next\n\nmore words\n' : ''}`
  const whole = Array.from({ length: 6 }, (_, index) => at(index))
  const { get } = await open({
    skills: ({ query }) => {
      const index = Number(query.get('cursor')?.slice(1) ?? 0)
      const content = whole[index] ?? ''
      const isLast = index === whole.length - 1
      const totalLength = whole.join('').length
      const offset = whole.slice(0, index).join('').length
      const fragment = {
        index,
        offset,
        length: content.length,
        totalLength,
        totalBytes: totalLength,
        totalTokens: 9,
        last: isLast,
      }
      return skillPage(
        { body: content, bodyFragment: fragment },
        { complete: isLast, nextCursor: isLast ? null : `p${index + 1}` },
      )
    },
  })
  const [first] = exactTextsOf((await get(exact(''))).html)
  const [second] = exactTextsOf((await get(exact('&page=2'))).html)
  expect(second?.startsWith('## Next\n')).toBe(true)
  expect(`${first}${second}`).toBe(whole.join(''))
})

test('all pages are joined, up to a bound, and the rest is linked', async () => {
  const { get, questions } = await openLong()
  const { html } = await get(exact('&page=all'))
  expect(exactTextsOf(html)).toEqual([BODY.slice(0, ANSWERS_READ).join('')])
  expect(questions.length).toBe(ANSWERS_READ)
  const next = attributesOf(html, 'a', 'href').find(link => link.includes('cursor=')) ?? ''
  expect(exactTextsOf((await get(next)).html)).toEqual([BODY.slice(ANSWERS_READ, ANSWERS_READ + ANSWERS_PER_PAGE).join('')])
})

test('an invalid number, or one past the last page, shows a page', async () => {
  const { get, questions } = await openLong()
  expect((await get(exact('&page=999999'))).status).toBe(200)
  expect(questions.length).toBe(ANSWERS_READ)
  for (const page of ['0', '-1', 'x', '1e3']) expect(exactTextsOf((await get(exact(`&page=${page}`))).html)).toEqual([textAt(1)])
})

test('joined pages have each text once and whole, wherever it was cut', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }), cuts => {
      const [rule, body] = ['r'.repeat(12), 'b'.repeat(28)]
      const ends = [...new Set([...cuts, 40])].sort((a, b) => a - b).filter(end => end > 0)
      const pages = ends.map((end, index) => {
        const start = ends[index - 1] ?? 0
        const cut = (text: string, from: number) => {
          const [first, last] = [Math.max(0, start - from), Math.max(0, Math.min(text.length, end - from))]
          const content = text.slice(first, last)
          const total = { totalLength: text.length, totalBytes: text.length, totalTokens: 9 }
          const fragment = { index, offset: first, length: content.length, ...total, last: last === text.length }
          return content === '' ? null : { path: 'SKILLSET.md', content, fragment }
        }
        const [ruleCut, bodyCut] = [cut(rule, 0), cut(body, 12)]
        return skillPage({
          ruleChain: ruleCut ? [ruleCut] : [],
          body: bodyCut?.content ?? '',
          bodyFragment: bodyCut?.fragment ?? null,
        })
      })
      const { skill } = joinPages(pages)
      expect(skill.ruleChain?.map(({ content }) => content)).toEqual([rule])
      expect(skill.body).toBe(body)
      expect(skill.bodyFragment).toMatchObject({ offset: 0, length: 28, last: true })
    }),
  )
})

test('texts that are read on demand have their size if it is known', async () => {
  const { get } = await open({
    skills: () =>
      skillPage({
        files: ['skills/pdf/a.md', 'skills/pdf/b.py'],
        fileDetails: [{ path: 'skills/pdf/a.md', size: 4_300, sha256: 'a'.repeat(64) }],
      }),
  })
  expect(textOf((await get(SKILL)).html)).toContain('skills/pdf/a.md 4.2 KiB skills/pdf/b.py')
})

test('tokens are shown for each text, for a list of skills, and for the whole skill if the page has it', async () => {
  const rule = { index: 0, offset: 0, length: 4, totalLength: 4, totalBytes: 4, totalTokens: 1, last: true }
  const body = { index: 0, offset: 0, length: 9, totalLength: 99, totalBytes: 99, totalTokens: 1_234, last: false }
  const { get } = await open({
    mounts: () => readyMount({ skills: skillsOf(readyMount()).map(skill => ({ ...skill, tokens: 4_321 })) }),
    skills: ({ address }) =>
      skillPage(
        {
          ruleChain: [{ path: 'SKILLSET.md', content: 'Rule', fragment: rule }],
          ...(address.includes('@') ? { body: 'Part one.', bodyFragment: body } : {}),
          budget: { bytes: 5_000, tokens: 1_235, pages: 2 },
        },
        address.includes('@') ? { complete: false, nextCursor: 'next' } : {},
      ),
  })
  const whole = textOf((await get(SKILL)).html)
  expect(whole).toContain('SKILLSET.md ~1 token')
  expect(whole).toContain('Length ~1,235 tokens')
  const part = await get(`${SKILL.replace('?', '@v1?')}&page=2`)
  expect(textOf(part.html)).toContain('~1,234 tokens')
  expect(attributesOf(part.html, 'span', 'title')).toContain('0–9 of 99 characters · 9 bytes')
  expect(textOf((await get(PAGE)).html)).toContain('pdf 4.3k tokens')
})

test('the first of several rules, and the included files, say what they are', async () => {
  const text = (path: string) => ({ path, content: 'x', fragment: whole('x') })
  const { get } = await open({
    skills: () =>
      skillPage({ ruleChain: [text('SKILLSET.md'), text('skills/SKILLSET.md')], includes: [text('a.md'), text('b.md')] }),
  })
  const { html } = await get(SKILL)
  for (const said of [en.skill.rulesAbout, en.skill.includesAbout]) expect(textOf(html).split(said)).toHaveLength(2)
  const { get: getOne } = await open({ skills: () => skillPage({ ruleChain: [text('SKILLSET.md')] }) })
  expect(textOf((await getOne(SKILL)).html)).not.toContain(en.skill.rulesAbout)
})

test.each([
  ['en', 'Front matter, line 3 : put the description in quotes'],
  ['de', 'Frontmatter, Zeile 3 : Setzen Sie description in Anführungszeichen'],
])(
  'a value without quotes is said by its field and its line, by its skill and among all findings: %s',
  async (language, said) => {
    const why = reason('ofField', {
      name: 'description',
      why: reason('onLine', { reason: { key: 'reason.yamlEntryIndent' }, n: 3 }),
    })
    const told = finding('front_matter.repaired', { why })
    const warning = () => keepFinding({ code: told.code, level: 'breaks' as const, message: messageOf(told) }, told)
    const path = 'skills/pdf/SKILL.md'
    const { get } = await open({
      skills: () => skillPage({ warnings: [warning()] }),
      findings: () => findingsPage([Object.assign(warning(), { path, skill: path, line: 3 })]),
    })
    for (const page of [SKILL, `${PAGE}?view=findings`, `${PAGE}?view=findings&by=skill`]) {
      const text = textOf((await get(page, 'GET', { 'accept-language': language })).html)
      expect(text.split(said), page).toHaveLength(2)
    }
  },
)

test('the front matter, which is not sent, is folded above the text of the skill on its first page', async () => {
  const front = '---\nname: pdf\ndescription: Reads\u202e.\n---\n'
  const body = '# Text\n'
  const { get } = await open({
    skills: () =>
      skillPage({
        body,
        bodyFragment: { index: 0, offset: 0, length: 7, totalLength: 7, totalBytes: 7, totalTokens: 2, last: true },
      }),
    files: () => filePage({ path: 'skills/pdf/SKILL.md', content: front + body, totalLength: front.length + body.length }),
  })
  const { html } = await get(exact(''))
  expect(textOf(html)).toContain('4 lines of front matter, not sent')
  expect(html).toContain('data-code="U+202E"')
  expect(exactTextsOf(html)).toEqual([front, body])
})

test('a skill without front matter, or whose file is refused, says nothing of it', async () => {
  const { get } = await open({ skills: () => skillPage(), files: () => refusal('file.not_served') })
  expect(textOf((await get(SKILL)).html)).not.toContain('not sent')
})
