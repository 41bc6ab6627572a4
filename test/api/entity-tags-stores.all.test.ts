import { afterAll, describe, expect, test } from 'vitest'
import { hasServer } from '#test/support/servers/servers.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { STORE_KINDS } from '#test/support/test-stores.ts'

/* The tags of the same answers, whatever the process and the store that they come from. */

const ADDRESS = '/local/acme/tools'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nname: Tools\n---\nBe kind.\n',
  'one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it.\n',
  'docs/guide.md': '# Guide\n\nHow to do it.\n',
}
/** A mount says when it was indexed, so it differs by store. */
const URLS = [
  `/api/v1/browse${ADDRESS}?path=docs`,
  `/api/v1/find${ADDRESS}?query=first`,
  `/api/v1/skills${ADDRESS}?path=one/SKILL.md`,
  `/api/v1/files${ADDRESS}?path=docs/guide.md`,
  `/api/v1/changes${ADDRESS}?from=v1`,
  `/api/v1/changes${ADDRESS}?from=v1&skill=one/SKILL.md`,
]

type Answers = Record<string, { body: string; etag: unknown }>
const apps: TestApp[] = []
afterAll(() => Promise.all(apps.map(app => app.close())))

async function openOver(stores: string): Promise<TestApp> {
  const app = await testApp({ 'acme/tools': FILES }, { stores })
  apps.push(app)
  const { tag, commit } = app.repository('acme/tools')
  await tag('v1', app.commitOf('acme/tools'))
  await commit({ 'one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it well.\n' })
  await app.open(`${ADDRESS}@v1`)
  await app.open(ADDRESS)
  return app
}

async function answersOf({ app }: Pick<TestApp, 'app'>): Promise<Answers> {
  const answers: Answers = {}
  for (const url of URLS) {
    const { body, headers, statusCode } = await app.inject(url)
    expect(statusCode, url).toBe(200)
    answers[url] = { body, etag: headers.etag }
  }
  return answers
}

// The database of `fleet` keeps state entries alone; its objects lie in a bucket as those of `s3` do.
const kinds = STORE_KINDS.filter(kind => kind !== 'fleet' && (kind !== 's3' || hasServer('s3')))

describe('over each store, two replicas', () => {
  const seen: Answers[] = []
  test.each(kinds)('%s: give the same bodies with the same tags', async kind => {
    const app = await openOver(kind)
    const answers = await answersOf(app)
    expect(await answersOf({ app: await app.replica() })).toEqual(answers)
    seen.push(answers)
  })

  test("accept each other's entity tags in every store, even after everything was indexed again", async () => {
    seen.push(await answersOf(await openOver('memory')))
    expect(seen).toHaveLength(kinds.length + 1)
    for (const answers of seen) expect(answers).toEqual(seen[0])
    const tags = Object.values(seen[0] ?? {}).map(({ etag }) => etag)
    expect(new Set(tags).size).toBe(URLS.length)
  })
})
