import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { atPath, formatAddress } from '#core/address.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import { ancestorsOf, joinPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests, type Policy } from '#indexer/rules/withheld.ts'
import { runs } from '#test/support/runs.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { repository } from './repositories.ts'

let app: TestApp
let made = 0
beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.close())

/** A repository with symbolic links to what is there and to what is not, and with submodules. */
const odd = repository.chain(({ files, folders }) => {
  const paths = [...Object.keys(files), ...folders]
  const place = fc.constantFrom(...folders)
  const target = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...paths).map(path => `${'../'.repeat(6)}${path}`) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...paths.map(path => path.split('/').at(-1) || '.'), '.', '..', 'link-0', '/etc/passwd', 'gone'),
    },
  )
  return fc.record({
    files: fc.constant(files),
    folders: fc.constant(folders),
    links: fc.array(fc.tuple(place, target, fc.constantFrom('link', 'AGENTS.md', 'CLAUDE.md', 'links.md')), { maxLength: 5 }),
    modules: fc.array(place, { maxLength: 1 }),
    mount: place,
    limit: fc.integer({ min: 1, max: 4 }),
  })
})
type Odd = typeof odd extends fc.Arbitrary<infer Value> ? Value : never

async function open({ files, links, modules }: Odd): Promise<{ address: (mount: RepoPath) => string; linked: Set<string> }> {
  const repo = await app.repositories.create('acme', `tree${made++}`)
  const { owner, name } = repo
  const linked = new Map(
    links.map(([folder, target, base], index) => [
      joinPath(folder, base === 'link' ? `link-${index}` : base),
      // From the folder of the link up to the root, and not above it.
      {
        link: target.startsWith('../../')
          ? '../'.repeat(folder === ROOT ? 0 : folder.split('/').length) + target.slice(18) || '.'
          : target,
      },
    ]),
  )
  await repo.commit({
    ...files,
    ...Object.fromEntries(linked),
    ...Object.fromEntries(modules.map(folder => [joinPath(folder, 'module'), { submodule: '1'.repeat(40) }])),
  })
  const address = (path: RepoPath) =>
    formatAddress(atPath({ host: 'local', owner, repository: name, ref: null, path: ROOT }, path))
  await app.open(address(ROOT))
  return { address, linked: new Set(linked.keys()) }
}

/** Every entry below a folder, page by page. */
async function walk(address: string, query: Record<string, string | number>, path?: string): Promise<BrowseEntry[]> {
  const found: BrowseEntry[] = []
  let cursor: string | null = null
  do {
    const more = { ...(path === undefined ? {} : { path }), ...(cursor ? { cursor } : {}) }
    const page: BrowsePage = await app.askReady('browse', address, { ...query, ...more })
    for (const entry of page.entries) {
      found.push(entry)
      if (entry.kind === 'directory' && entry.why === undefined) found.push(...(await walk(address, query, entry.path)))
    }
    cursor = page.nextCursor
  } while (cursor)
  return found
}

test('files=all lists the whole tree once, page by page, and says of each file what files answers', async () => {
  await fc.assert(
    fc.asyncProperty(odd, async generated => {
      const { files, mount, limit, modules } = generated
      const policy = policyOf(files)
      const { address, linked } = await open(generated)
      const at = address(mount)
      if ((await app.get(endpointUrl('browse', at, {}))).status !== 200) return
      const all = await walk(at, { files: 'all', limit: 200 })
      const byPath = new Map(all.map(entry => [entry.path, entry]))
      expect(byPath.size).toBe(all.length)
      expect(await walk(at, { files: 'all', limit })).toEqual(all)

      const isOpen = (path: string) => policy.reasonOf(path as RepoPath) === null
      const isBelow = (path: string) => mount === ROOT || path.startsWith(`${mount}/`)
      for (const path of Object.keys(files).filter(isBelow)) {
        // A generated file may have the name of a link.
        if (!linked.has(path)) expect([path, byPath.has(path)]).toEqual([path, isOpen(path)])
      }
      for (const path of modules.map(folder => joinPath(folder, 'module')).filter(isBelow))
        if (isOpen(path)) expect(byPath.get(path)).toMatchObject({ kind: 'directory', why: 'submodule', counts: { files: 0 } })

      for (const entry of await walk(at, { limit: 200 })) expect(byPath.get(entry.path)).toMatchObject(entry)
      for (const entry of all) {
        expect(isBelow(entry.path)).toBe(true)
        if (entry.target !== undefined) expect([entry.path, byPath.has(entry.target)]).toEqual([entry.path, true])
        if (entry.kind === 'directory') {
          const below = all.filter(({ path, kind }) => kind === 'file' && path.startsWith(`${entry.path}/`))
          expect([entry.path, entry.counts.files]).toEqual([entry.path, below.length])
          const isDelivered = below.some(({ delivered }) => delivered === undefined)
          expect([entry.path, entry.delivered]).toEqual([entry.path, isDelivered ? undefined : false])
          continue
        }
        const { status, json } = await app.get(endpointUrl('files', at, { path: entry.path }))
        const expected = entry.why === undefined ? [200] : STATUS[entry.why]
        expect([entry.path, entry.why, expected.includes(status)]).toEqual([entry.path, entry.why, true])
        if (status === 404) expect(json.error.sourceUrl).toEqual(expect.any(String))
      }
    }),
    { numRuns: runs(60) },
  )
})

const STATUS = {
  submodule: [404],
  link: [403, 404, 413, 415],
  withheld: [403],
  not_delivered: [404],
  too_large: [413],
  not_text: [415],
} as const satisfies Record<NonNullable<BrowseEntry['why']>, number[]>

test('a folder is there exactly if something in it may be named', async () => {
  await fc.assert(
    fc.asyncProperty(repository, async generated => {
      const policy = policyOf(generated.files)
      const { address } = await open({ ...generated, links: [], modules: [], mount: ROOT, limit: 1 })
      const named = new Set<string>([ROOT])
      for (const path of Object.keys(generated.files))
        if (policy.reasonOf(path as RepoPath) === null) for (const folder of ancestorsOf(path as RepoPath)) named.add(folder)
      // What closes a folder is told of it.
      for (const [path, reason] of policy.withheld)
        if (reason === 'closed') for (const folder of [path, ...ancestorsOf(path)]) named.add(folder)
      for (const folder of generated.folders) {
        const { status } = await app.get(endpointUrl('browse', address(ROOT), { path: folder, files: 'all' }))
        expect([folder, status]).toEqual([folder, named.has(folder) ? 200 : 404])
      }
    }),
    { numRuns: runs(40) },
  )
})

function policyOf(files: Odd['files']): Policy {
  const bytes = new Map(Object.entries(files).map(([path, file]) => [path, Buffer.from(file)]))
  const tree = buildTree(
    [...bytes].map(([path, { length }]) => ({ path, mode: '100644' as const, oid: path, sizeBytes: length })),
  )
  return applyManifests(tree, oid => bytes.get(oid) ?? null, 'repository')
}
