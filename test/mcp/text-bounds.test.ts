import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens } from '#core/estimate-tokens.ts'
import type { TestFile } from '#test/support/repository.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { message } from './scene.ts'

/*
 * Whatever a repository holds, the text of a tool stays within its bound, and says the same as the body beside it.
 */

const BYTES = 24 * 1024
const LONG = '長い名前のフォルダー'
/** Of nearly the longest path. */
const DEEP = Array.from({ length: 16 }, (_, level) => `${level}-${LONG}${'x'.repeat(10)}`).join('/')
const JAPANESE = 'ユーザーが文書や表計算、プレゼンテーションの作成、編集、分析を求めたときに、このスキルを使います。'.repeat(10)

function hostileFiles(): Record<string, TestFile> {
  const files: Record<string, TestFile> = {
    'package.json': '{"license":"MIT"}\n',
    'docs/日本/SKILL.md': `---\nname: nihon\ndescription: ${JAPANESE}\n---\n本文。\n`,
    'many/long.md': `# ${JAPANESE}\n\n${JAPANESE}\n`,
  }
  const folders = DEEP.split('/')
  for (const level of folders.keys()) {
    const folder = folders.slice(0, level + 1).join('/')
    files[`${folder}/SKILLSET.md`] = `---\nname: Level ${level}\n---\n${level} is a rule.\n`
  }
  const includes = Array.from({ length: 16 }, (_, number) => `included-${number}.md`)
  for (const name of includes) files[`${DEEP}/${name}`] = `Included ${name}.\n`
  for (let number = 0; number < 300; number++) {
    files[`${DEEP}/${number}.md`] = `# ${LONG} ${number}\n`
    files[`many/${LONG.repeat(5)}-${number}.md`] = `# ${JAPANESE}\n\n${JAPANESE}\n`
    files[`skills/${LONG.repeat(3)}-${number}/SKILL.md`] = `---\nname: s${number}\ndescription: ${JAPANESE}\n---\n本文。\n`
  }
  for (let number = 0; number < 30; number++) files[`${DEEP}/large-${number}.bin`] = 'x'.repeat(1024 * 1024 + 1)
  const references = Array.from({ length: 100 }, (_, number) => `[${number}](/many/${LONG.repeat(5)}-${number}.md)`).join(' ')
  const body = `${references}\n${'本文の行です。\n'.repeat(4_000)}`
  files[`${DEEP}/SKILL.md`] = `---\nname: deep\ndescription: ${JAPANESE}\ninclude: [${includes.join(', ')}]\n---\n${body}`
  return files
}

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/hostile': hostileFiles() })
  await app.open('/local/acme/hostile')
})
afterAll(() => app.close())

async function call(name: string, given: object) {
  const asked = message('tools/call', { name, arguments: given })
  const answer = await app.app.inject({ method: 'POST', url: '/mcp/local/acme/hostile', ...asked })
  const { content, structuredContent, isError = false } = answer.json().result
  expect(isError, content[0].text).toBe(false)
  return { text: content[0].text as string, body: structuredContent }
}

/** Every page, by the calls that the texts propose. */
async function* pages(name: string, given: object) {
  for (let next: object | null = given; next !== null; ) {
    const page = await call(name, next)
    yield page
    const proposed: string | undefined = new RegExp(`call ${name} (\\{.*\\})$`, 'm').exec(page.text)?.[1]
    next = proposed === undefined ? null : JSON.parse(proposed)
  }
}

describe('a text', () => {
  test.each<[tool: string, given: object]>([
    ['browse_repo', { path: 'many', limit: 200 }],
    ['browse_repo', { path: 'skills', limit: 200 }],
    ['browse_repo', { path: DEEP, limit: 200 }],
    ['search_repo', { query: '文書 表計算', limit: 25 }],
    ['load_skill', { path: `${DEEP}/SKILL.md` }],
    ['read_repo_file', { path: `${DEEP}/SKILL.md`, limit: 100_000 }],
  ])('of %s is within its bound on every page', async (tool, given) => {
    let count = 0
    for await (const { text } of pages(tool, given)) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BYTES)
      if (++count === 30) break
    }
    expect(count).toBeGreaterThan(1)
  })

  test('of a skill in shorter pages has all of its texts, those of the body beside it', async () => {
    const joined = new Map<string, string>()
    for await (const { text, body } of pages('load_skill', { path: `${DEEP}/SKILL.md` })) {
      const { ruleChain, body: own, bodyFragment, includes } = body.skill
      const parts = [...ruleChain, ...(bodyFragment ? [{ path: 'body', content: own }] : []), ...includes]
      for (const { path, content } of parts) {
        expect(text).toContain(content)
        joined.set(path, (joined.get(path) ?? '') + content)
      }
    }
    expect(joined.size).toBe(16 + 1 + 16)
    expect(joined.get('body')).toContain('本文の行です。\n'.repeat(4_000))
    expect(joined.get(`${DEEP}/included-15.md`)).toBe('Included included-15.md.\n')
  })

  test('of a listing takes 100 tokens a skill, in any language', async () => {
    const { text } = await call('browse_repo', { path: 'docs' })
    const { text: found } = await call('search_repo', { query: 'ユーザー', path: 'docs' })
    for (const line of [text, found].map(one => /^- skill .*$/m.exec(one)?.[0] ?? '')) {
      expect(line).toMatch(/^- skill "nihon" \(docs\/日本\/SKILL\.md\): ユーザーが.*…$/)
      expect(estimateTokens(line)).toBeLessThanOrEqual(100)
    }
  })
})

test('a remark about many files takes one line', async () => {
  const other = await testApp({
    'acme/misnamed': Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`s${n}/skill.md`, '---\nname: s\n---\nx\n'])),
  })
  await other.open('/local/acme/misnamed')
  const asked = message('tools/call', { name: 'browse_repo', arguments: {} })
  const answer = await other.app.inject({ method: 'POST', url: '/mcp/local/acme/misnamed', ...asked })
  const notes = (answer.json().result.content[0].text as string).split('\n').filter(line => line.startsWith('Note'))
  expect(notes).toEqual([
    expect.stringMatching(
      /^Note \(info\) on s0\/skill\.md, s1\/skill\.md, s2\/skill\.md and 6 more: a skill must be named exactly/,
    ),
  ])
  await other.close()
})
