import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { atPath, formatAddress } from '#core/address.ts'
import type { AnswerOf, EndpointName } from '#core/contract/endpoints.ts'
import { ancestorsOf, encodePath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests, type Policy } from '#indexer/rules/withheld.ts'
import type { Answer } from '#test/support/check-answer.ts'
import { type Client, joinFile, joinSkill, walkFolders } from '#test/support/joined.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { runs } from '#test/support/runs.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { type GeneratedRepository, renamed, repository, unrelatedTo } from './repositories.ts'

let app: TestApp
let client: Client
let made = 0

beforeAll(async () => {
  app = await testApp({})
  client = { get: (name, address, query) => app.ask(name, address, query) }
})
afterAll(() => app.close())

/** Commits the files to a repository of its own and indexes it. */
async function open({ files }: GeneratedRepository): Promise<TestRepository> {
  const made = await app.repositories.create('acme', `r${next()}`)
  await made.commit(files)
  await app.open(addressOf(made))
  return made
}

function next(): number {
  return made++
}

function addressOf({ owner, name }: TestRepository, path: RepoPath = ROOT): string {
  return formatAddress(atPath({ host: 'local', owner, repository: name, ref: null, path: ROOT }, path))
}

const placed = repository.chain(generated =>
  fc.record({
    generated: fc.constant(generated),
    mount: fc.constantFrom(...generated.folders),
    size: fc.integer({ min: 1, max: 7 }),
  }),
)

test('pages joined are the whole, for any limit', async () => {
  await fc.assert(
    fc.asyncProperty(placed, async ({ generated, mount, size }) => {
      const { files } = generated
      const policy = policyOf(files)
      const made = await open(generated)
      const address = addressOf(made, mount)
      if (!policy.folders.some(({ path }) => path === mount)) return

      const entries = await walkFolders(client, address)
      expect(await walkFolders(client, address, undefined, size)).toEqual(entries)
      const found = await findAll(address, 25)
      expect(await findAll(address, size)).toEqual(found)

      for (const { path, kind } of entries) {
        if (kind === 'directory') continue
        const answer = await app.get(endpointUrl('files', address, { path }))
        if (answer.status !== 200) continue
        const text = files[path] as string
        const characters = [...text]
        const limit = Math.max(1, Math.ceil(characters.length / size))
        expect(await joinFile(client, address, path, limit)).toBe(text)
        const part = await app.ask('files', address, { path, offset: Math.floor(characters.length / 2), limit })
        expect(part.content).toBe(characters.slice(part.offset, part.offset + limit).join(''))
      }

      for (const entry of entries) {
        if (entry.kind !== 'file' || !entry.skill || entry.describedOnly) continue
        const { rules, body, includes, order } = await joinSkill(client, address, entry.path)
        const above = ancestorsOf(entry.path as RepoPath).flatMap(folder => policy.manifests.get(folder) ?? [])
        expect(rules).toEqual(above.flatMap(({ path, rules }) => (rules ? [{ path, text: rules.text }] : [])))
        expect(body).toBe((files[entry.path] as string).replace(/^---\n.*?\n---\n/s, ''))
        for (const { path, text } of includes) expect(text).toBe(files[path])
        expect(new Set(includes.map(({ path }) => path)).size).toBe(includes.length)
        expect(order.join(' ')).toMatch(/^(?:rule ?)*(?:body ?)+(?:include ?)*$/)
      }
    }),
    { numRuns: runs(25) },
  )
})

test('no answer names excluded or closed content, and listed content can be read or is refused with its code', async () => {
  await fc.assert(
    fc.asyncProperty(placed, async ({ generated, mount }) => {
      const policy = policyOf(generated.files)
      const made = await open(generated)
      const paths = [...Object.keys(generated.files), ...generated.folders].filter(path => path !== '') as RepoPath[]
      const withheld = paths.filter(path => policy.reasonOf(path) !== null && !isPolicy(path, policy))
      for (const at of new Set([ROOT, mount])) {
        for (const [url, answer] of await askEverything(made, at, generated)) {
          const named = withheld.filter(path => stringsOf(answer.json).some(text => names(text, path)))
          expect({ url, named }).toEqual({ url, named: [] })
          if (answer.status !== 200) continue
          for (const path of listedIn(answer.json)) {
            const { status } = await app.get(endpointUrl('files', addressOf(made, at), { path }))
            expect({ url, path, isRefused: ![200, 403, 413, 415].includes(status) }).toEqual({ url, path, isRefused: false })
          }
        }
      }
      const { commit } = await app.ask('mounts', addressOf(made))
      for (const path of Object.keys(generated.files)) {
        const refused = await app.get(endpointUrl('files', addressOf(made), { path }))
        const code = refused.json.error?.code
        const isWithheld = policy.reasonOf(path as RepoPath) !== null || code === 'file.not_served'
        const { status } = await app.get(`/git/local/acme/${made.name}/raw/${commit}/${encodePath(path)}`)
        // The files endpoint does not tell of the license of a file that is no content.
        const wanted = isWithheld ? [404] : code === 'file.not_found' ? [200, 404] : [200]
        expect({ path, status, isWanted: wanted.includes(status) }).toEqual({ path, status, isWanted: true })
      }
    }),
    { numRuns: runs(20) },
  )
})

test('the same files give the same answers, and files that no rule names change nothing for a mounted folder', async () => {
  await fc.assert(
    fc.asyncProperty(placed, repository, async ({ generated, mount }, other) => {
      const made = await open(generated)
      const before = await askEverything(made, mount, generated)
      const again = await open(generated)
      expect(comparable(await askEverything(again, mount, generated), again)).toEqual(comparable(before, made))
      if (mount === '') return

      const gone = unrelatedTo(mount, generated.files)
      await again.commit({
        ...Object.fromEntries(gone.map(path => [path, null])),
        ...Object.fromEntries(Object.entries(other.files).map(([path, file]) => [`elsewhere/${path}`, renamed(file)])),
        'elsewhere.md': '# Elsewhere\n\nNo garden here.\n',
      })
      await app.open(addressOf(again))
      // What a search shows is measured by the best that the whole repository has, so it may show less where more is found.
      const exact = (answers: [url: string, answer: string][]) => answers.filter(([url]) => !url.startsWith('/api/v1/find'))
      expect(exact(comparable(await askEverything(again, mount, generated), again))).toEqual(exact(comparable(before, made)))
    }),
    { numRuns: runs(25) },
  )
})

function policyOf(files: GeneratedRepository['files']): Policy {
  const bytes = new Map(Object.entries(files).map(([path, file]) => [path, Buffer.from(file)]))
  const tree = buildTree(
    [...bytes].map(([path, { length }]) => ({ path, mode: '100644' as const, oid: path, sizeBytes: length })),
  )
  return applyManifests(tree, oid => bytes.get(oid) ?? null, 'repository')
}

/** Manifests and licenses speak for what is around them even where they are excluded; a closed folder is told of with its manifest. */
function isPolicy(path: RepoPath, policy: Policy): boolean {
  const folder = parentOf(path)
  const isManifest = path.endsWith('SKILLSET.md') && (policy.manifests.has(folder) || policy.withheld.get(folder) === 'closed')
  return isManifest || policy.withheld.get(path) === 'closed'
}

async function findAll(address: string, limit: number): Promise<unknown[]> {
  const items: unknown[] = []
  let cursor: string | null = null
  do {
    const page: Extract<AnswerOf<'find'>, { status: 'ready' }> = await app.askReady('find', address, {
      query: 'garden',
      limit,
      ...(cursor ? { cursor } : {}),
    })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return items
}

/** Every answer that a mount has about the files of a repository, by URL. */
async function askEverything(
  made: TestRepository,
  mount: RepoPath,
  { files, folders }: GeneratedRepository,
): Promise<Map<string, Answer>> {
  const questions: [EndpointName, Record<string, string>][] = [
    ['mounts', {}],
    ['find', { query: 'garden', limit: '25' }],
    ...[...folders, 'nowhere'].flatMap((path): [EndpointName, Record<string, string>][] => [
      ['browse', { path, limit: '200' }],
      ['find', { query: 'garden', path, limit: '25' }],
    ]),
    ...[...Object.keys(files), 'nowhere.md'].map((path): [EndpointName, Record<string, string>] => ['files', { path }]),
    ...[...Object.keys(files).filter(path => path.endsWith('SKILL.md')), 'twin', ...folders].map(
      (path): [EndpointName, Record<string, string>] => ['skills', { path }],
    ),
  ]
  const answers = new Map<string, Answer>()
  for (const [name, query] of questions) {
    let url = endpointUrl(name, addressOf(made, mount), query)
    for (let page = 0; page < 10; page++) {
      const answer = await app.get(url)
      answers.set(page === 0 ? url : `${url} ${page}`, answer)
      const cursor = name === 'files' ? null : answer.json?.nextCursor
      if (!cursor) break
      url = endpointUrl(name, addressOf(made, mount), { ...query, cursor })
    }
  }
  return answers
}

/** Answers without what says which commit of which repository they are of. */
function comparable(answers: Map<string, Answer>, { name }: TestRepository): [string, string][] {
  return [...answers].map(([url, { status, json }]) => [
    url.replace(/cursor=[^ ]*/, '').replaceAll(`/${name}`, ''),
    `${status} ${JSON.stringify(json)}`
      .replaceAll(`/${name}`, '')
      .replaceAll(`"${name}"`, '""')
      .replace(/"nextCursor":"[^"]*"/g, '')
      .replace(/[0-9a-f]{40}/g, '')
      .replace(/"(indexedAt|committedAt)":"[^"]*"/g, ''),
  ])
}

/** Texts of an answer, but for the text of files and what quotes it. */
function stringsOf(json: unknown): string[] {
  if (typeof json === 'string') return [json]
  if (Array.isArray(json)) return json.flatMap(stringsOf)
  if (typeof json !== 'object' || json === null) return []
  if ('code' in json && QUOTING.test(String(json.code))) return []
  return Object.entries(json).flatMap(([key, value]) =>
    ['content', 'body', 'summary', 'nextCursor'].includes(key) ? [] : stringsOf(value),
  )
}

/** They repeat what the author wrote, or say what a skill has to be called. */
const QUOTING = /^(?:reference\.|skill\.file_name$)/

function names(text: string, path: RepoPath): boolean {
  return [path, encodePath(path)].some(spelled => {
    for (let at = text.indexOf(spelled); at >= 0; at = text.indexOf(spelled, at + 1)) {
      const before = text.slice(0, at).replace(/^.*\/raw\/[0-9a-f]{40}\/$/, '')
      if (/(?:^|[ "'(:])$/.test(before) && /^(?:$|[ "'):,;?#/])/.test(text.slice(at + spelled.length))) return true
    }
    return false
  })
}

/** Paths of files that an answer offers for reading. */
function listedIn(json: Record<string, unknown>): string[] {
  const { entries, items, skill, index, overview } = json as unknown as {
    entries?: { kind: string; path: string; overviewPath?: string }[]
    items?: { path: string; files?: { path: string }[] }[]
    skill?: { files?: string[]; references?: string[]; oversized?: { path: string }[] }
    index?: { skills?: { path: string }[]; documents?: { path: string }[] }
    overview?: { path: string }
  }
  return [
    ...(entries ?? []).flatMap(({ kind, path, overviewPath }) => [
      ...(kind === 'file' ? [path] : []),
      ...(overviewPath ? [overviewPath] : []),
    ]),
    ...(items ?? []).flatMap(({ path, files = [] }) => [path, ...files.map(file => file.path)]),
    ...(skill?.files ?? []),
    ...(skill?.references ?? []),
    ...(skill?.oversized ?? []).map(({ path }) => path),
    ...(index?.skills ?? []).map(({ path }) => path),
    ...(index?.documents ?? []).map(({ path }) => path),
    ...(overview ? [overview.path] : []),
  ]
}
