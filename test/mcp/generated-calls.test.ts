import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '#test/support/random.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { message } from './scene.ts'

/*
 * Calls of chance, right and wrong ones: what a tool answers is the body of the REST interface for the same parameters, their path in its canonical form.
 */

const CALLS = 500
const ADDRESS = '/local/acme/tools'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nname: Tools\ndescription: Tools of Acme.\nexclude: [secret/]\n---\nBe kind.\n',
  'skills/one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it. See [more](references/more.md).\n',
  'skills/one/references/more.md': '# More\n',
  'skills/one/logo.png': new Uint8Array([0x89, 0x50, 0xff]),
  'skills/closed/SKILL.md': '---\nname: closed\ndescription: Described.\nlicense: Proprietary\n---\nHidden words.\n',
  'skills/long/SKILL.md': `---\nname: long\ndescription: Long.\n---\n${'A line of the long skill.\n'.repeat(2_000)}`,
  'secret/SKILL.md': '---\nname: secret\ndescription: Excluded.\n---\nExcluded words.\n',
  'docs/guide.md': '# Guide\n\nOne ä two 🙂.\n',
}

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

const REST = { browse_repo: 'browse', search_repo: 'find', load_skill: 'skills', read_repo_file: 'files' } as const
type Tool = keyof typeof REST
const PARAMETERS: Readonly<Record<Tool, readonly string[]>> = {
  browse_repo: ['path', 'cursor', 'limit'],
  search_repo: ['query', 'path', 'cursor', 'limit'],
  load_skill: ['path', 'cursor'],
  read_repo_file: ['path', 'offset', 'limit'],
}
const PATHS = [
  ...Object.keys(FILES),
  'skills',
  'docs',
  'skills/one',
  'nowhere',
  '',
  '/',
  'a//b',
  '../x',
  'skills/',
  'secret',
  '%2e%2e',
]
/** What the interface takes in place of the paths that tools take, too. */
const CANONICAL: Readonly<Record<string, string>> = { '/': '', 'a//b': 'a/b', 'skills/': 'skills' }
const QUERIES = ['first', 'long line', 'ä', '🙂', 'words', '', ' ', '"', 'x'.repeat(501)]
const NUMBERS = [0, 1, 2, 25, 50, 200, 201, 100_000, 100_001, -1]

test(`${CALLS} calls of chance answer as the REST interface does`, async () => {
  const random = createRandom('calls')
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  const cursors = ['x']
  const statuses = new Set<number>()
  for (let call = 0; call < CALLS; call++) {
    const name = pick(Object.keys(REST) as Tool[])
    const given: Record<string, string | number> = {}
    for (const parameter of PARAMETERS[name]) {
      if (random() < 0.35 && parameter !== 'query' && !(parameter === 'path' && random() < 0.7)) continue
      if (parameter === 'path') given.path = pick(PATHS)
      else if (parameter === 'query') given.query = pick(QUERIES)
      else if (parameter === 'cursor' && random() < 0.5) given.cursor = pick(cursors)
      else if (parameter === 'limit' || parameter === 'offset') given[parameter] = pick(NUMBERS)
    }
    const asked = message('tools/call', { name, arguments: given })
    const { path, ...others } = given
    const canonical = path === undefined ? given : { ...others, path: CANONICAL[path] ?? path }
    const [tool, rest] = await Promise.all([
      app.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, ...asked }),
      app.app.inject(
        `/api/v1/${REST[name]}${ADDRESS}?${new URLSearchParams(Object.entries(canonical).map(([key, value]) => [key, String(value)]))}`,
      ),
    ])
    const { result } = tool.json()
    const body = rest.json()
    statuses.add(rest.statusCode)
    const what = `${name} ${JSON.stringify(given)}`
    expect(result.isError ?? false, what).toBe(rest.statusCode !== 200)
    if (rest.statusCode === 200) expect(comparable(result.structuredContent), what).toEqual(comparable(body))
    else expect(result.structuredContent.error.code, what).toBe(body.error.code)
    if (typeof body.nextCursor === 'string') cursors.push(body.nextCursor)
    expect(result.content[0].text, what).not.toMatch(/Hidden words|Excluded words/)
  }
  expect([...statuses].sort()).toEqual([200, 400, 403, 404, 415])
})

/** A text that would be too long is that of a shorter page, whose end is another one. */
function comparable(answer: Record<string, unknown>): unknown {
  const { nextCursor, nextOffset, content, ...rest } = answer
  return {
    ...rest,
    more: nextCursor == null ? null : 'more',
    content: typeof content === 'string' ? content.slice(0, 500) : null,
  }
}
