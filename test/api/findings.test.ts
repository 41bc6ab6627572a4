import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FindingsPage } from '#core/contract/findings.ts'
import { FINDING_LEVELS } from '#core/finding-levels.ts'
import { allFindings } from '#test/support/findings.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const SECRET = 'the words of a skill that nobody may copy'
const MANY = 60

let app: TestApp
beforeAll(async () => {
  const many = Object.fromEntries(
    Array.from({ length: MANY }, (_, number) => {
      const name = `s${String(number).padStart(2, '0')}`
      return [`many/${name}/SKILL.md`, skillText(name, `[x](gone-${number}.md)\n`)]
    }),
  )
  app = await testApp({
    'acme/tools': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Tools\nexclude: [drafts]\ninclude: [shared/gone.md]\n---\nRule. [r](rule-gone.md)\n',
      'a/odd/SKILL.md': skillText('odd', 'Do\u200b it.\n\n[x](../../b/guide.md) [y](gone.md)\n', 'licens: MIT\n'),
      'b/guide.md': '# Guide\n',
      'b/SKILLSET.md': '---\nname: B\nfoo: 1\n---\n',
      'closed/SKILLSET.md': '---\nname: x\n',
      'closed/one/SKILL.md': skillText('one'),
      'drafts/secret/SKILL.md': skillText('Secret Draft'),
      'named/other/SKILL.md': skillText('declared'),
      'kept/SKILL.md': `---\nname: Not Kept\ndescription: x\nlicense: Proprietary\ncolour: ${SECRET}\nkeyword: ${SECRET}\n---\n${SECRET}\u202e\n`,
      ...many,
    },
    'acme/clean': { LICENSE: MIT, 'a/SKILL.md': skillText('a') },
    'acme/bare': { 'a/SKILL.md': skillText('a') },
    'acme/code': { 'main.c': 'int main() {}\n' },
  })
  for (const name of ['tools', 'clean', 'bare', 'code']) await app.open(`/local/acme/${name}`)
})
afterAll(() => app.close())

const page = (address: string, query: Record<string, string> = {}) => app.askReady('findings', address, query)
const totalOf = ({ look, breaks, style }: FindingsPage['counts']) => look + breaks + style

test('findings are in the order of their levels, with file, line and skill', async () => {
  const items = await allFindings(app, '/local/acme/tools@main')
  const levels = items.map(({ level }) => FINDING_LEVELS.indexOf(level))
  expect(levels).toEqual(levels.toSorted((left, right) => left - right))
  expect(items[0]).toMatchObject({
    code: 'text.hidden_characters',
    level: 'look',
    path: 'a/odd/SKILL.md',
    line: 6,
    skill: 'a/odd/SKILL.md',
    name: 'odd',
  })
  expect(items).toContainEqual({
    code: 'reference.broken',
    level: 'breaks',
    path: 'a/odd/SKILL.md',
    line: 8,
    message: 'gone.md leads to nothing',
    advice: 'correct the path, or add the file',
    skill: 'a/odd/SKILL.md',
    name: 'odd',
  })
  expect(items).toContainEqual(expect.objectContaining({ code: 'reference.broken', path: 'SKILLSET.md', line: 6 }))
  expect(items).toContainEqual(expect.objectContaining({ code: 'front_matter.unknown_field', field: 'licens', line: 4 }))
  expect(items).toContainEqual(
    expect.objectContaining({ code: 'reference.outside', level: 'style', path: 'a/odd/SKILL.md', line: 8 }),
  )
})

test('a fault of a manifest tells how many skills it costs, of the folder that is asked for', async () => {
  const costsAt = async (address: string, code: string) =>
    (await allFindings(app, address)).find(one => one.code === code)?.costsSkills
  expect(await costsAt('/local/acme/tools', 'include.missing')).toBe(MANY + 2)
  expect(await costsAt('/local/acme/tools@main/a', 'include.missing')).toBe(1)
  expect(await costsAt('/local/acme/tools', 'manifest.unreadable')).toBe(1)
})

test('counts are the same on every page and for every level, and are those of the items', async () => {
  const whole = await allFindings(app, '/local/acme/tools')
  const first = await page('/local/acme/tools', { limit: '7' })
  expect(totalOf(first.counts)).toBe(whole.length)
  expect(first.items).toEqual(whole.slice(0, 7))
  const second = await page('/local/acme/tools', { limit: '9', cursor: first.nextCursor ?? '' })
  expect(second.items).toEqual(whole.slice(7, 16))
  expect(second.counts).toEqual(first.counts)
  for (const level of FINDING_LEVELS) {
    const items = await allFindings(app, '/local/acme/tools', { level })
    expect(items).toEqual(whole.filter(one => one.level === level))
    expect(items).toHaveLength(first.counts[level])
    expect((await page('/local/acme/tools', { level, limit: '1' })).counts).toEqual(first.counts)
  }
})

test('a folder has its own findings and those of manifests above it, a SKILL.md its own', async () => {
  const ofFolder = await allFindings(app, '/local/acme/tools', { path: 'a' })
  expect(ofFolder).toEqual(await allFindings(app, '/local/acme/tools@main/a'))
  expect(new Set(ofFolder.map(({ path }) => path))).toEqual(new Set(['a/odd/SKILL.md', 'SKILLSET.md']))
  expect(ofFolder.map(({ message }) => message)).toContain(
    'b/guide.md lies outside the folder: readers of this folder cannot open it',
  )
  const ofSkill = await page('/local/acme/tools', { path: 'a/odd/SKILL.md' })
  expect(ofSkill.items.length).toBeGreaterThan(3)
  expect(new Set(ofSkill.items.map(one => one.skill))).toEqual(new Set(['a/odd/SKILL.md']))
  expect(totalOf(ofSkill.counts)).toBe(ofSkill.items.length)
})

test('what is excluded, closed, absent or no folder is not found, alike', async () => {
  const answers = await Promise.all(
    ['drafts', 'drafts/secret/SKILL.md', 'closed/one/SKILL.md', 'gone', 'b/guide.md', 'LICENSE', 'a/odd/SKILL.md/x'].map(path =>
      app.get(`/api/v1/findings/local/acme/tools?path=${path}`),
    ),
  )
  expect(new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json)}`)).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 404, json: { error: { code: 'mount.path_not_found' } } })
  const outside = await app.get('/api/v1/findings/local/acme/tools@main/a?path=many')
  expect(outside.json).toEqual(answers[0]?.json)
  const all = JSON.stringify(await allFindings(app, '/local/acme/tools'))
  expect(all).not.toMatch(/drafts|closed\/one/)
})

test('of a skill that is only described the kind and the path are told, no word of it', async () => {
  const items = await allFindings(app, '/local/acme/tools', { path: 'kept/SKILL.md' })
  expect(items.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['text.hidden_characters', 'name.invalid', 'front_matter.unknown_field']),
  )
  for (const item of items) {
    expect(item).toMatchObject({ path: 'kept/SKILL.md', skill: 'kept/SKILL.md' })
    expect(
      Object.keys(item).filter(key => !['code', 'level', 'path', 'message', 'advice', 'skill', 'name'].includes(key)),
    ).toEqual([])
    expect(item.message).not.toMatch(/U\+|keyword|Not Kept|line|words/)
  }
  const [mount, { skill }] = await Promise.all([
    app.ask('mounts', '/local/acme/tools@main/kept'),
    app.askReady('skills', '/local/acme/tools', { path: 'kept/SKILL.md' }),
  ])
  const listed = mount.index.status === 'ready' ? mount.index.skills[0] : undefined
  for (const warnings of [listed?.warnings, skill.warnings]) {
    expect(warnings?.map(({ code }) => code)).toEqual(expect.arrayContaining(['name.invalid', 'text.hidden_characters']))
    expect(JSON.stringify(warnings)).not.toMatch(/U\+|keyword|Not Kept|line|words|"field"/)
  }
})

test('a skill has its declared name, whatever its folder is called, and a manifest has none', async () => {
  const items = await allFindings(app, '/local/acme/tools')
  const named = new Map(items.map(({ skill, path, name }) => [skill ?? path, name]))
  expect(named.get('named/other/SKILL.md')).toBe('declared')
  expect(named.get('SKILLSET.md')).toBeUndefined()
  for (const path of ['a/odd/SKILL.md', 'named/other/SKILL.md', 'kept/SKILL.md', 'many/s07/SKILL.md']) {
    const { skill } = await app.askReady('skills', '/local/acme/tools', { path })
    expect([path, named.get(path)]).toEqual([path, skill.name])
  }
})

test('a cursor is bound to path and level', async () => {
  const { nextCursor } = await page('/local/acme/tools', { limit: '5' })
  for (const query of ['path=a', 'level=style', 'path=a/odd/SKILL.md']) {
    const answer = await app.get(`/api/v1/findings/local/acme/tools?${query}&cursor=${nextCursor}`)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'request.invalid' } } })
  }
  const other = await app.get(`/api/v1/findings/local/acme/clean?cursor=${nextCursor}`)
  expect(other.status).toBe(400)
})

test.each(['limit=0', 'limit=201', 'level=error', 'level=', 'path=/a', 'cursor=x', 'severity=error'])(
  'a request with %s is refused',
  async query => {
    expect(await app.get(`/api/v1/findings/local/acme/tools?${query}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'request.invalid' } },
    })
  },
)

test('a repository without faults has no findings, and one without a license says where one is missing', async () => {
  expect(await page('/local/acme/clean')).toMatchObject({
    counts: { look: 0, breaks: 0, style: 0 },
    items: [],
    diagnostics: [],
    nextCursor: null,
  })
  expect((await allFindings(app, '/local/acme/bare')).map(({ code, path }) => [code, path])).toEqual([['folder.unlicensed', '']])
})

test('until the index is ready its state is the answer', async () => {
  const fresh = await testApp({ 'acme/new': { 'a.md': '# A\n' } })
  try {
    expect(await fresh.ask('findings', '/local/acme/new')).toMatchObject({ status: 'indexing' })
  } finally {
    await fresh.close()
  }
})

test('the warnings of a skill have their levels', async () => {
  const { skill } = await app.askReady('skills', '/local/acme/tools', { path: 'a/odd/SKILL.md' })
  expect(skill.warnings).toContainEqual(expect.objectContaining({ code: 'text.hidden_characters', level: 'look' }))
})

test('a repository whose files agents do not read is not called empty', async () => {
  expect(await allFindings(app, '/local/acme/code')).toEqual([])
})
