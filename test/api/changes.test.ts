import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChangeItem, ChangesAnswer } from '#core/contract/changes.ts'
import { sha256 } from '#test/support/changes.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/* What an agent reads differently on two sides: the endpoint `changes`, sentence by sentence. */

const skill = (name: string, body: string, fields = '') =>
  `---\nname: ${name}\ndescription: About ${name}.\n${fields}---\n${body}`
const MIT = '{"license":"MIT"}\n'

const BEFORE = {
  'package.json': MIT,
  'SKILLSET.md': '---\nname: Tools\ninclude: shared/terms.md\n---\nBe kind.\n',
  'shared/terms.md': '# Terms\n\nSee https://known.example/.\n',
  'one/SKILL.md': skill('one', 'Do it.\nThen rest.\n', 'allowed-tools: Read\n'),
  'one/run.sh': 'echo one\n',
  'two/SKILL.md': skill('two', 'Do that.\n'),
  'gone/SKILL.md': skill('gone', 'Something else.\n'),
  'old/place/SKILL.md': skill('mover', 'a\nb\nc\nd\ne\n', 'include: ref.md\n'),
  'old/place/ref.md': '# Reference\n',
  'docs/a.md': '# A\n\nFirst.\n',
  'docs/b.md': '# B\n\nSecond.\n',
  'docs/moves.md': '# Moves\n\nSame text.\n',
  'secret/SKILL.md': skill('secret', 'Nobody is told WITHHELD-BODY.\n'),
  'secret/SKILLSET.md': '---\nexclude: [unclosed\n---\n',
}
const AFTER = {
  'one/SKILL.md': skill('one', 'Do it.\nThen \u202erest\u202e, see https://New.Example/x.\n', 'allowed-tools: Read Bash\n'),
  'one/run.sh': { mode: '100755' as const, content: 'echo one\n' },
  'one/extra.txt': 'more\n',
  'gone/SKILL.md': null,
  'fresh/SKILL.md': skill('fresh', 'Brand new.\n'),
  'old/place/SKILL.md': null,
  'old/place/ref.md': null,
  'new/home/SKILL.md': skill('mover', 'a\nb\nc\nd\nE\n', 'include: ref.md\n'),
  'new/home/ref.md': '# Reference\n',
  'docs/a.md': '# A\n\nFirst, changed.\n',
  'docs/b.md': null,
  'docs/c.md': '# C\n',
  'docs/moves.md': null,
  'docs/sub/moved.md': '# Moves\n\nSame text.\n',
  'secret/SKILL.md': skill('secret', 'Nobody is told WITHHELD-TOO.\n'),
}

const ADDRESS = '/local/acme/tools'
let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': BEFORE })
  const repository = app.repository('acme/tools')
  await repository.tag('v1', app.commitOf('acme/tools'))
  await repository.commit(AFTER)
  await app.open(ADDRESS)
  await app.open(`${ADDRESS}@v1`)
})
afterAll(() => app.close())

type Ready = Extract<ChangesAnswer, { items: unknown }>
type ReadySkill = Extract<ChangesAnswer, { entries: unknown }>
const compare = async (address = ADDRESS, query: Record<string, string | number> = {}) =>
  (await app.ask('changes', address, { from: 'v1', ...query })) as Ready
const compareSkill = async (path: string, query: Record<string, string> = {}, address = ADDRESS) =>
  (await app.ask('changes', address, { from: 'v1', skill: path, ...query })) as ReadySkill
const itemAt = async (path: string): Promise<ChangeItem | undefined> => (await compare()).items.find(item => item.path === path)
const status = async (query: string, address = ADDRESS) => {
  const answer = await app.get(`/api/v1/changes${address}?${query}`)
  return [answer.status, answer.json.error?.code]
}

describe('items', () => {
  test('are the differences, by path', async () => {
    const { items, counts, nextCursor } = await compare()
    expect(items.map(({ kind, change, path }) => `${change} ${kind} ${path}`)).toEqual([
      'changed document docs/a.md',
      'removed document docs/b.md',
      'added document docs/c.md',
      'moved document docs/sub/moved.md',
      'added skill fresh/SKILL.md',
      'removed skill gone/SKILL.md',
      'moved skill new/home/SKILL.md',
      'changed skill one/SKILL.md',
    ])
    expect(counts).toEqual({
      skills: { added: 1, removed: 1, changed: 1, moved: 1 },
      documents: { added: 1, removed: 1, changed: 1, moved: 1 },
      manifests: { added: 0, removed: 0, changed: 0, moved: 0 },
    })
    expect(nextCursor).toBeNull()
  })

  test('of a skill list the changed parts, their causes, and the facts that a reviewer checks', async () => {
    expect(await itemAt('one/SKILL.md')).toMatchObject({
      directory: 'one',
      name: 'one',
      parts: ['body', 'files', 'metadata'],
      causes: [
        { part: 'body', path: 'one/SKILL.md', change: 'changed' },
        { part: 'files', path: 'one/extra.txt', change: 'added' },
        { part: 'files', path: 'one/run.sh', change: 'changed' },
        { part: 'metadata', path: 'one/SKILL.md', change: 'changed' },
      ],
      facts: {
        hiddenCharacters: [{ path: 'one/SKILL.md', line: 7, codePoint: 'U+202E', count: 2 }],
        hosts: [{ host: 'new.example', path: 'one/SKILL.md', line: 7 }],
        executables: ['one/run.sh'],
        allowedTools: { before: 'Read', after: 'Read Bash' },
      },
    })
  })

  test('have the digest and the budget that skills and files report', async () => {
    const item = await itemAt('one/SKILL.md')
    const { skill: now } = await app.askReady('skills', ADDRESS, { path: 'one/SKILL.md' })
    const { skill: then } = await app.askReady('skills', `${ADDRESS}@v1`, { path: 'one/SKILL.md' })
    for (const [side, { sha256: digest, budget, serving }] of [
      [item?.before, then],
      [item?.after, now],
    ] as const) {
      // Where a license is declared does not count.
      const { line: _, ...license } = serving.license
      expect(side).toEqual({
        sha256: digest,
        bytes: budget?.bytes,
        tokens: budget?.tokens,
        license,
        full: true,
        complete: true,
      })
    }
    const file = await app.ask('files', ADDRESS, { path: 'docs/a.md' })
    const document = await itemAt('docs/a.md')
    expect(document?.after).toMatchObject({ sha256: file.sha256, bytes: file.size, full: true })
    expect(document).toMatchObject({ title: 'A', parts: ['body', 'metadata'], facts: {} })
  })

  test('that were added or removed have no parts and no causes, and facts of the present side only', async () => {
    expect(await itemAt('fresh/SKILL.md')).toMatchObject({
      parts: [],
      causes: [],
      before: null,
      facts: { description: { before: null, after: 'About fresh.' } },
    })
    expect(await itemAt('gone/SKILL.md')).toMatchObject({ parts: [], causes: [], after: null, facts: {} })
  })

  test('report a picture or large file that changed and kept its size', async () => {
    const files = (value: number) => ({
      'package.json': MIT,
      'one/SKILL.md': skill('one', 'Do it.\n'),
      'one/same.png': new Uint8Array([137, 80, 78, 71, 0]),
      'one/other.png': new Uint8Array([137, 80, 78, 71, value]),
      'one/large.bin': new Uint8Array(1_048_577).fill(value),
    })
    const media = await testApp({ 'acme/tools': files(1) })
    try {
      await media.repository('acme/tools').tag('v1', media.commitOf('acme/tools'))
      await media.repository('acme/tools').commit(files(2))
      await media.open(`${ADDRESS}@v1`)
      await media.open(ADDRESS)
      const { items } = (await media.ask('changes', ADDRESS, { from: 'v1' })) as Ready
      expect(items).toMatchObject([{ parts: ['files'], causes: [{ path: 'one/large.bin' }, { path: 'one/other.png' }] }])
    } finally {
      await media.close()
    }
  })

  test('that moved are one item, and files in the directory of a skill move with it', async () => {
    expect(await itemAt('new/home/SKILL.md')).toMatchObject({
      movedFrom: 'old/place/SKILL.md',
      parts: ['body'],
      causes: [{ part: 'body', path: 'new/home/SKILL.md', change: 'changed' }],
    })
    expect(await itemAt('docs/sub/moved.md')).toMatchObject({ movedFrom: 'docs/moves.md', parts: [] })
  })

  test('are none where both sides are one commit', async () => {
    expect((await compare(ADDRESS, { from: 'main' })).items).toEqual([])
  })

  test('outside the folder are absent, and a move across its border is an addition or a removal', async () => {
    const { items, path } = await compare(ADDRESS, { path: 'docs/sub' })
    expect([path, items.map(({ change, path: at }) => `${change} ${at}`)]).toEqual(['docs/sub', ['added docs/sub/moved.md']])
    expect((await compare(`${ADDRESS}/docs/sub`)).items).toEqual(items)
    expect((await compare(ADDRESS, { path: 'old' })).items.map(({ change }) => change)).toEqual(['removed'])
  })

  test('are paged, with counts of the whole, and the limit may change between pages', async () => {
    const whole = await compare()
    const joined: ChangeItem[] = []
    let cursor: string | null = null
    for (let limit = 1; limit === 1 || cursor !== null; limit++) {
      const page: Ready = await compare(ADDRESS, { limit, ...(cursor === null ? {} : { cursor }) })
      expect(page.counts).toEqual(whole.counts)
      joined.push(...page.items)
      cursor = page.nextCursor
    }
    expect(joined).toEqual(whole.items)
  })

  test('name nothing of a closed folder', async () => {
    expect(JSON.stringify(await compare())).not.toMatch(/WITHHELD|"secret\/SKILL.md"/)
  })
})

describe('the difference of a skill', () => {
  test('has each text under its path, with unchanged ones', async () => {
    const { entries, metadata, skill: item, nextCursor } = await compareSkill('one/SKILL.md')
    expect(entries.map(({ kind, path, change }) => [kind, path, change])).toEqual([
      ['rules', 'SKILLSET.md', 'unchanged'],
      ['body', 'one/SKILL.md', 'changed'],
      ['includes', 'shared/terms.md', 'unchanged'],
    ])
    expect(entries[1]).toMatchObject({
      before: { sha256: sha256('Do it.\nThen rest.\n'), bytes: 18 },
      content: '@@ -1,2 +1,2 @@\n Do it.\n-Then rest.\n+Then \u202erest\u202e, see https://New.Example/x.\n',
      fragment: { index: 0, offset: 0, last: true },
    })
    expect(entries[0]).toMatchObject({ content: '', fragment: { length: 0, totalLength: 0, last: true } })
    expect(metadata.after?.frontMatter).toEqual({ 'allowed-tools': 'Read Bash' })
    expect(item).toEqual(await itemAt('one/SKILL.md'))
    expect(nextCursor).toBeNull()
  })

  test('is the same by the old and the new path of a skill that moved', async () => {
    const [old, new_] = [await compareSkill('old/place/SKILL.md'), await compareSkill('new/home/SKILL.md')]
    expect(old).toEqual(new_)
    expect(new_.entries.map(({ path, movedFrom, change }) => [path, movedFrom, change])).toEqual([
      ['SKILLSET.md', undefined, 'unchanged'],
      ['new/home/SKILL.md', 'old/place/SKILL.md', 'moved'],
      ['shared/terms.md', undefined, 'unchanged'],
      ['new/home/ref.md', 'old/place/ref.md', 'moved'],
    ])
  })

  test('that did not change is empty and says so', async () => {
    const { skill: item, entries } = await compareSkill('two/SKILL.md')
    expect(item).toMatchObject({ change: 'unchanged', parts: [], causes: [], facts: {} })
    expect(entries.every(({ change }) => change === 'unchanged')).toBe(true)
  })

  test('that was removed removes every text', async () => {
    const { metadata, entries } = await compareSkill('gone/SKILL.md')
    expect([metadata.after, metadata.before?.name]).toEqual([null, 'gone'])
    expect(entries[1]).toMatchObject({ change: 'removed', after: null, content: '@@ -1 +0,0 @@\n-Something else.\n' })
  })
})

describe('requests', () => {
  test.each([
    ['', 400, 'request.invalid'],
    ['from=', 400, 'request.invalid'],
    ['from=a..b', 400, 'request.invalid'],
    [`from=${'a'.repeat(2_049)}`, 400, 'request.invalid'],
    [`from=${'a'.repeat(2_048)}`, 404, 'mount.ref_not_found'],
    ['from=v1&skill=one/SKILL.md&path=one', 400, 'request.invalid'],
    ['from=v1&skill=one/SKILL.md&limit=5', 400, 'request.invalid'],
    ['from=v1&limit=0', 400, 'request.invalid'],
    ['from=v1&limit=201', 400, 'request.invalid'],
    ['from=v1&path=/docs', 400, 'request.invalid'],
    ['from=v1&cursor=abc', 400, 'request.invalid'],
    ['from=v2', 404, 'mount.ref_not_found'],
    ['from=HEAD', 404, 'mount.ref_not_found'],
    ['from=refs/pull/1/head', 404, 'mount.ref_not_found'],
    ['from=v1&path=nowhere', 404, 'mount.path_not_found'],
    ['from=v1&skill=nowhere/SKILL.md', 404, 'skill.not_found'],
    ['from=v1&skill=secret/SKILL.md', 404, 'skill.not_found'],
  ])('%s is %d %s', async (query, code, error) => {
    expect(await status(query)).toEqual([code, error])
  })

  test('name the old side as an address does', async () => {
    const { from, to } = await compare(`${ADDRESS}@main`, { from: app.commitOf('acme/tools').toUpperCase() })
    expect(from).toEqual({ ref: app.commitOf('acme/tools'), commit: app.commitOf('acme/tools'), status: 'ready' })
    expect(to).toMatchObject({ ref: 'main', status: 'ready' })
    expect((await compare(ADDRESS, { from: 'refs/tags/v1' })).items).toEqual((await compare()).items)
  })

  test('outside the mounted folder are not found', async () => {
    expect(await status('from=v1&path=docs', `${ADDRESS}/one`)).toEqual([404, 'mount.path_not_found'])
    expect(await status('from=v1&skill=two/SKILL.md', `${ADDRESS}/one`)).toEqual([404, 'skill.not_found'])
    expect(await status('from=v1', `${ADDRESS}/nowhere`)).toEqual([404, 'mount.path_not_found'])
  })

  test('with the cursor of another comparison are refused', async () => {
    const { nextCursor: cursor } = await compare(ADDRESS, { limit: 1 })
    expect(await status(`from=v1&cursor=${cursor}`)).toEqual([200, undefined])
    expect(await status(`from=main&cursor=${cursor}`)).toEqual([400, 'request.invalid'])
    expect(await status(`from=v1&path=docs&cursor=${cursor}`)).toEqual([400, 'request.invalid'])
    expect(await status(`from=v1&cursor=${cursor}`, `${ADDRESS}@v1`)).toEqual([400, 'request.invalid'])
  })
})

describe('until both sides are indexed', () => {
  test('the answer is the state of both, and a ref that does not exist is reported first', async () => {
    const repository = app.repository('acme/tools')
    const later = await repository.commit(
      { 'docs/later.md': '# Later\n' },
      { branch: 'later', parent: app.commitOf('acme/tools') },
    )
    const answer = await app.get(`/api/v1/changes${ADDRESS}@later?from=v1`)
    expect(answer.json).toEqual({
      status: 'indexing',
      commit: later,
      from: { ref: 'v1', commit: app.commitOf('acme/tools'), status: 'ready' },
      to: { ref: 'later', commit: later, status: 'indexing' },
    })
    expect(answer.headers).toMatchObject({ 'retry-after': '1' })
    expect(answer.headers.etag).toBeUndefined()
    expect(await status('from=nothing', `${ADDRESS}@later`)).toEqual([404, 'mount.ref_not_found'])
    await app.index()
    expect((await compare(`${ADDRESS}@later`)).items.map(({ path }) => path)).toEqual(['docs/later.md'])
  })
})

test('a ready answer has an entity tag, and a request with that tag receives 304', async () => {
  for (const query of ['from=v1', 'from=v1&skill=one/SKILL.md', 'from=main']) {
    const url = `/api/v1/changes${ADDRESS}?${query}`
    const { etag } = (await app.get(url)).headers
    const again = await app.app.inject({ url, headers: { 'if-none-match': etag ?? '' } })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
  }
})
