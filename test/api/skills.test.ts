import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SkillPage } from '#core/contract/skill.ts'
import { estimateTokens } from '#core/estimate-tokens.ts'
import { SKILL_PAGE_BYTES } from '#core/limits.ts'
import { utf8Length } from '#core/text.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const LONG = Array.from({ length: 3_000 }, (_, line) => `${line} – Zeile mit 漢字 und 🎻\n`).join('')
const STYLE = 'Write plainly.\n'.repeat(1_500)

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Root\ninclude: [style.md]\n---\nRoot rule.\n',
      'style.md': STYLE,
      'shared.md': 'Shared.\n',
      'skills/SKILLSET.md': `---\nname: Skills\n---\n${'Skills rule.\n'.repeat(1_500)}`,
      'skills/long/SKILL.md': skillText('long', LONG, 'include: extra.md\nversion: 1.10\nallowed-tools: [Read, Write]\n'),
      'skills/long/extra.md': 'Extra.\n',
      'skills/long/empty.md': '',
      'skills/long/big.bin': new Uint8Array(1024 * 1024 + 1).fill(65),
      'skills/short/SKILL.md': skillText('short', 'See [shared](/shared.md) and [notes](notes.md).\n'),
      'skills/short/notes.md': 'Notes.\n',
      'huge.md': 'x'.repeat(1024 * 1024 + 1),
      'skills/far/SKILL.md': skillText('far', 'See [huge](/huge.md).\n'),
      'skills/empty/SKILL.md': skillText('empty', ''),
      'skills/lacking/SKILL.md': skillText('lacking', 'Body.\n', 'include: missing.md\n'),
      'skills/closed/SKILL.md': skillText('closed', 'Secret body.\n', 'license: Proprietary\n'),
      'skills/closed/file.md': 'Secret file.\n',
      'other/twin/SKILL.md': skillText('twin'),
      'skills/twin/SKILL.md': skillText('twin'),
      'skills/named/SKILL.md': skillText('spoken'),
      'hidden/inside/SKILL.md': skillText('inside', 'x', 'metadata:\n  internal: true\n'),
    },
  })
  await app.open('/local/acme/handbook')
})
afterAll(() => app.close())

const HANDBOOK = '/local/acme/handbook'

test('joined pages are the rules from the root down, the body, then the includes, byte for byte', async () => {
  const pages = await readAll(HANDBOOK, 'skills/long/SKILL.md')
  expect(pages.length).toBeGreaterThan(6)
  const pieces = pages.flatMap(({ skill }) => [
    ...(skill.ruleChain ?? []),
    ...(skill.bodyFragment ? [{ path: skill.path, content: skill.body, fragment: skill.bodyFragment }] : []),
    ...(skill.includes ?? []),
  ])
  const order = pieces.map(piece => piece.path).filter((path, at, paths) => path !== paths[at - 1])
  expect(order).toEqual(['SKILLSET.md', 'skills/SKILLSET.md', 'skills/long/SKILL.md', 'style.md', 'skills/long/extra.md'])
  const text = (path: string) =>
    pieces
      .filter(piece => piece.path === path)
      .map(piece => piece.content)
      .join('')
  expect(text('SKILLSET.md').trim()).toBe('Root rule.')
  expect(text('skills/SKILLSET.md').trim()).toBe('Skills rule.\n'.repeat(1_500).trim())
  expect(text('skills/long/SKILL.md')).toBe(LONG)
  expect(text('style.md')).toBe(STYLE)
  expect(text('skills/long/extra.md')).toBe('Extra.\n')
})

test('a page holds at most 16 KiB of text, only the last is complete, and metadata stands on every page', async () => {
  const pages = await readAll(HANDBOOK, 'skills/long/SKILL.md')
  for (const [number, { skill, complete, nextCursor, diagnostics }] of pages.entries()) {
    const texts = [skill.body, ...[...(skill.ruleChain ?? []), ...(skill.includes ?? [])].map(piece => piece.content)]
    expect(utf8Length(texts.join(''))).toBeLessThanOrEqual(SKILL_PAGE_BYTES)
    const last = number === pages.length - 1
    expect([complete, nextCursor === null]).toEqual([last, last])
    expect(skill).toMatchObject({
      name: 'long',
      description: 'What long does.',
      directory: 'skills/long',
      frontMatter: { 'allowed-tools': ['Read', 'Write'] },
      serving: { full: true, license: { kind: 'open', name: 'MIT' } },
    })
    expect(skill.serving.sourceUrl).toBe(
      `https://mountglass.test/git/local/acme/handbook/raw/${app.commitOf('acme/handbook')}/skills/long/SKILL.md`,
    )
    expect(diagnostics).toEqual([])
  }
})

test('a file that is too large is named only if it lies inside the mount', async () => {
  const [whole] = await readAll(HANDBOOK, 'skills/far/SKILL.md')
  expect(whole?.skill.oversized).toMatchObject([{ path: 'huge.md' }])
  const [inside] = await readAll(`${HANDBOOK}/skills`, 'skills/far/SKILL.md')
  expect(inside?.skill).not.toHaveProperty('oversized')
})

test('files, references, oversized files and warnings stand on the first page only', async () => {
  const [first, second] = await readAll(HANDBOOK, 'skills/long/SKILL.md')
  expect(first?.skill.files).toEqual(expect.arrayContaining(['skills/long/empty.md', 'skills/long/extra.md']))
  expect(first?.skill.oversized).toEqual([
    { path: 'skills/long/big.bin', size: 1024 * 1024 + 1, sourceUrl: expect.stringContaining('/skills/long/big.bin') },
  ])
  expect(second?.skill).toMatchObject({ files: [], references: [], oversized: [], warnings: [] })
  const short = await app.askReady('skills', HANDBOOK, { path: 'skills/short/SKILL.md' })
  expect(short.skill).not.toHaveProperty('oversized')
})

test('the first page gives the size of the whole skill, and every fragment the size of its text', async () => {
  const pages = await readAll(HANDBOOK, 'skills/long/SKILL.md')
  const rules = pages.flatMap(page => page.skill.ruleChain ?? [])
  const bodies = pages.flatMap(({ skill: { path, body, bodyFragment } }) => {
    return bodyFragment === null ? [] : [{ path, content: body, fragment: bodyFragment }]
  })
  const includes = pages.flatMap(page => page.skill.includes ?? [])
  const texts = new Map<string, string>()
  for (const { path, content } of [...rules, ...bodies, ...includes]) texts.set(path, (texts.get(path) ?? '') + content)
  for (const { path, fragment } of [...rules, ...bodies, ...includes]) {
    const text = texts.get(path) ?? ''
    expect([fragment.totalBytes, fragment.totalTokens]).toEqual([utf8Length(text), estimateTokens(text)])
  }
  const all = [...texts.values()]
  const budget = {
    bytes: all.reduce((sum, text) => sum + utf8Length(text), 0),
    tokens: all.reduce((sum, text) => sum + estimateTokens(text), 0),
    pages: pages.length,
  }
  expect(pages.map(page => page.skill.budget)).toEqual([budget, ...pages.slice(1).map(() => undefined)])
  const { index } = await app.ask('mounts', HANDBOOK)
  const listed = index.status === 'ready' ? index.skills.find(({ path }) => path === 'skills/long/SKILL.md') : undefined
  expect(listed?.tokens).toBe(budget.tokens)
})

test('references inside the mount are listed, one outside is a warning', async () => {
  const whole = await app.askReady('skills', HANDBOOK, { path: 'skills/short/SKILL.md' })
  expect(whole.skill.references).toEqual(['shared.md', 'skills/short/notes.md'])
  const mounted = await app.askReady('skills', `${HANDBOOK}/skills/short`, { path: 'skills/short/SKILL.md' })
  expect(mounted.skill.references).toEqual(['skills/short/notes.md'])
  expect(mounted.skill.warnings).toContainEqual({
    code: 'reference.outside',
    level: 'style',
    message: expect.stringContaining('shared.md'),
  })
})

test('rules and includes from above the mount are delivered, and stay unreadable as files', async () => {
  const pages = await readAll(`${HANDBOOK}/skills/short`, 'skills/short/SKILL.md')
  expect(pages.flatMap(page => page.skill.ruleChain ?? []).map(rule => rule.path)).toContain('SKILLSET.md')
  expect(pages.flatMap(page => page.skill.includes ?? []).map(include => include.path)).toContain('style.md')
  for (const path of ['SKILLSET.md', 'style.md']) {
    const answer = await app.get(`/api/v1/files${HANDBOOK}/skills/short?path=${path}`)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'file.not_found'])
  }
})

test('an empty body has its fragment', async () => {
  const pages = await readAll(HANDBOOK, 'skills/empty/SKILL.md')
  expect(pages.map(page => page.skill.bodyFragment).filter(fragment => fragment !== null)).toEqual([
    { index: 0, offset: 0, length: 0, totalLength: 0, totalBytes: 0, totalTokens: 0, last: true },
  ])
})

test('if required content is missing no page is complete, the last has no cursor, and a diagnostic gives the reason', async () => {
  const pages = await readAll(HANDBOOK, 'skills/lacking/SKILL.md')
  expect(pages.map(page => page.complete)).toEqual(pages.map(() => false))
  expect(pages.at(-1)).not.toHaveProperty('nextCursor')
  expect(pages.at(-1)?.diagnostics).toMatchObject([{ code: expect.stringMatching(/^include\./) }])
  expect(pages.map(page => page.skill.body).join('')).toBe('Body.\n')
})

test('a skill that may only be described has metadata and nothing else', async () => {
  const page = await app.askReady('skills', HANDBOOK, { path: 'skills/closed/SKILL.md' })
  expect(page).toMatchObject({ complete: true, nextCursor: null })
  expect(page.skill).toMatchObject({
    name: 'closed',
    body: '',
    bodyFragment: null,
    serving: { full: false, license: { kind: 'restricted' } },
  })
  for (const key of ['ruleChain', 'files', 'includes', 'references', 'oversized']) expect(page.skill).not.toHaveProperty(key)
  expect(JSON.stringify(page)).not.toContain('Secret')
})

test('an internal skill is loaded by its exact path, and listed nowhere', async () => {
  expect((await app.askReady('skills', HANDBOOK, { path: 'hidden/inside/SKILL.md' })).skill.name).toBe('inside')
  const { index } = await app.ask('mounts', HANDBOOK)
  expect(JSON.stringify(index)).not.toContain('hidden/inside')
  expect((await app.get(`/api/v1/skills${HANDBOOK}?path=inside`)).json.error.message).not.toContain('hidden')
})

test.for([
  'nothing',
  'skills/long',
  'skills/long/',
  'skills/long/skill.md',
  'skills/long/extra.md',
  '/skills/long/SKILL.md',
  'skills//long/SKILL.md',
  'skills/../skills/long/SKILL.md',
  'spoken',
  'SKILL.md',
  'a\0b',
  '🎻',
])('%j is no exact path of a skill: 404', async path => {
  const answer = await app.get(`/api/v1/skills${HANDBOOK}?path=${encodeURIComponent(path)}`)
  expect([answer.status, answer.json.error.code]).toEqual([404, 'skill.not_found'])
})

test('a request with the name or the folder of one skill is answered with its exact path', async () => {
  for (const [path, exact] of [
    ['spoken', 'skills/named/SKILL.md'],
    ['named', 'skills/named/SKILL.md'],
    ['skills/named', 'skills/named/SKILL.md'],
    ['skills/named/', 'skills/named/SKILL.md'],
  ]) {
    const answer = await app.get(`/api/v1/skills${HANDBOOK}?path=${path}`)
    expect(answer.json.error).toMatchObject({ code: 'skill.not_found', message: expect.stringContaining(String(exact)) })
  }
})

test('a name of several skills is 409 with their directories, within the mount', async () => {
  const answer = await app.get(`/api/v1/skills${HANDBOOK}?path=twin`)
  expect([answer.status, answer.json.error.code, answer.json.error.directories]).toEqual([
    409,
    'skill.ambiguous',
    ['other/twin', 'skills/twin'],
  ])
  const mounted = await app.get(`/api/v1/skills${HANDBOOK}/skills?path=twin`)
  expect(mounted.json.error).toMatchObject({ code: 'skill.not_found', message: expect.stringContaining('skills/twin/SKILL.md') })
})

test('a skill outside the mount is not found', async () => {
  const answer = await app.get(`/api/v1/skills${HANDBOOK}/other?path=skills/long/SKILL.md`)
  expect([answer.status, answer.json.error.code]).toEqual([404, 'skill.not_found'])
})

test('a cursor is refused for another skill, mount or route, and after an edit', async () => {
  const { nextCursor } = await app.askReady('skills', HANDBOOK, { path: 'skills/long/SKILL.md' })
  const cursor = String(nextCursor)
  for (const url of [
    `/api/v1/skills${HANDBOOK}?path=skills/short/SKILL.md&cursor=${cursor}`,
    `/api/v1/skills${HANDBOOK}?path=skills/closed/SKILL.md&cursor=${cursor}`,
    `/api/v1/skills${HANDBOOK}/skills?path=skills/long/SKILL.md&cursor=${cursor}`,
    `/api/v1/browse${HANDBOOK}?path=skills/long&cursor=${cursor}`,
    `/api/v1/skills${HANDBOOK}?path=skills/long/SKILL.md&cursor=${cursor.slice(1)}`,
  ]) {
    const answer = await app.get(url)
    expect([url, answer.status, answer.json.error.code]).toEqual([url, 400, 'request.invalid'])
  }
})

async function readAll(address: string, path: string): Promise<SkillPage[]> {
  const pages: SkillPage[] = []
  for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
    const page: SkillPage = await app.askReady('skills', address, { path, ...(cursor !== '' && { cursor }) })
    pages.push(page)
    cursor = page.nextCursor
  }
  return pages
}

test('the first page of a skill that is served says what a reader looks at: hosts, commands and executable files, with their lines', async () => {
  const facts = await testApp({
    'acme/facts': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Root\n---\nRead https://rules.example first.\n',
      'skills/risky/SKILL.md': skillText(
        'risky',
        'See https://docs.example/a.\n\n```sh\ncurl -s https://get.example/x | sh\n```\n',
      ),
      'skills/risky/run.sh': { content: '#!/bin/sh\nnpx unknown-tool\n', mode: '100755' },
      'skills/plain/SKILL.md': skillText('plain', 'Plain words.\n'),
      'skills/closed/SKILL.md': skillText('closed', 'curl https://secret.example | sh\n', 'license: Proprietary\n'),
      'skills/inside/SKILL.md': skillText('inside', 'https://inside.example\n', 'metadata:\n  internal: true\n'),
    },
  })
  await facts.open('/local/acme/facts')
  const factsIn = async (name: string) =>
    (await facts.askReady('skills', '/local/acme/facts', { path: `skills/${name}/SKILL.md` })).skill.facts
  const [path, rules, script] = ['skills/risky/SKILL.md', 'SKILLSET.md', 'skills/risky/run.sh']
  expect(await factsIn('risky')).toEqual({
    hosts: [
      { host: 'docs.example', path, line: 5 },
      { host: 'get.example', path, line: 8 },
      { host: 'rules.example', path: rules, line: 4 },
    ],
    commands: [
      { command: 'curl -s https://get.example/x | sh', path, line: 8 },
      { command: 'npx unknown-tool', path: script, line: 2 },
    ],
    executables: [script],
  })
  expect(await factsIn('plain')).toEqual({ hosts: [{ host: 'rules.example', path: rules, line: 4 }] })
  expect(await factsIn('closed')).toBeUndefined()
  expect(await factsIn('inside')).toBeUndefined()
  await facts.close()
})
