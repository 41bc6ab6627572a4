import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { atPath, formatAddress } from '#core/address.ts'
import type { FoundItem } from '#core/contract/find.ts'
import { FIND_FOLDED_FILES, FIND_LIMIT, SUMMARY_CHARACTERS } from '#core/limits.ts'
import { ancestorsOf, isInside, type RepoPath, ROOT } from '#core/repo-path.ts'
import { countCharacters } from '#core/text.ts'
import { runs } from '#test/support/runs.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT } from '../api/support/texts.ts'
import { type PlantedRepository, planted, queries, searchPlan } from './search-repositories.ts'

let app: TestApp
let made = 0

beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.close())

/** Commits the files to a repository of their own, indexes it, and gives the address of any of its folders. */
async function open({ files }: Pick<PlantedRepository, 'files'>): Promise<(path?: string) => string> {
  const { owner, name } = await app.repositories.create('acme', `s${made++}`).then(async repository => {
    await repository.commit(files)
    return repository
  })
  const root = { host: 'local', owner, repository: name, ref: null, path: ROOT } as const
  await app.open(formatAddress(root))
  return (path = '') => formatAddress(atPath(root, path as RepoPath))
}

/** All results, page by page. `limit` gives the size of each page. */
async function findAll(
  address: string,
  query: string,
  path?: string,
  limit: () => number = () => FIND_LIMIT.max,
): Promise<FoundItem[]> {
  const items: FoundItem[] = []
  let cursor: string | null = null
  do {
    const size = limit()
    const page: Awaited<ReturnType<typeof ask>> = await ask(address, { query, limit: size, path, cursor })
    expect(page.items.length).toBeLessThanOrEqual(size)
    if (page.nextCursor !== null) expect(page.items).toHaveLength(size)
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return items
}

function ask(
  address: string,
  { query, limit, path, cursor }: { query: string; limit: number; path: string | undefined; cursor: string | null },
) {
  return app.askReady('find', address, { query, limit, ...(path === undefined ? {} : { path }), ...(cursor ? { cursor } : {}) })
}

const asked = fc.tuple(searchPlan, fc.array(queries, { minLength: 4, maxLength: 6 }))

test('pages joined are the whole list, for any limits', async () => {
  const limits = fc.infiniteStream(fc.integer({ min: 1, max: 4 }))
  await fc.assert(
    fc.asyncProperty(asked, limits, async ([plan, asking], sizes) => {
      const address = await open(planted(plan))
      for (const query of asking) {
        const whole = await findAll(address(), query)
        expect(new Set(whole.map(({ path }) => path)).size).toBe(whole.length)
        expect(await findAll(address(), query, undefined, () => sizes.next().value)).toEqual(whole)
      }
    }),
    { numRuns: runs(25) },
  )
})

test('the answer for a folder is the whole answer without results elsewhere', async () => {
  const compared = { outside: 0, inSkills: 0 }
  await fc.assert(
    fc.asyncProperty(asked, async ([plan, asking]) => {
      const { folders, files, skillFolders } = planted(plan)
      const address = await open(planted(plan))
      for (const query of asking.slice(0, 2)) {
        const whole = await findAll(address(), query)
        for (const folder of folders) {
          const below = whole.filter(item => isInside(folder, item.path as RepoPath))
          const byPath = await findAll(address(), query, folder)
          const byMount = await findAll(address(folder), query)
          const around = skillFolders.filter(at => at !== folder && isInside(at as RepoPath, folder))
          const owner = around.toSorted((left, right) => right.length - left.length)[0]
          if (owner === undefined) {
            if (folder !== '') compared.outside += below.length
            expect({ query, folder, items: byPath }).toEqual({ query, folder, items: below })
            expect({ query, folder, items: byMount }).toEqual({ query, folder, items: below })
          } else {
            const skill = `${owner}/SKILL.md`
            const shown = filesOf(whole.find(({ path }) => path === skill)).filter(({ path }) =>
              isInside(folder, path as RepoPath),
            )
            compared.inSkills += shown.length
            const isSkill = ({ path }: FoundItem) => path === skill
            expect(byPath.filter(item => !isSkill(item))).toEqual(below)
            // The whole answer shows the best five files only, so that others of the folder may come behind those that it shows.
            expect(filesOf(byPath.find(isSkill)).slice(0, shown.length)).toEqual(shown.slice(0, FIND_FOLDED_FILES))
            const pages = shown.filter(({ path }) => path.endsWith('.md')).map(page => ({ kind: 'document', ...page }))
            const isOwn = ({ path }: FoundItem) => !below.some(item => item.path === path)
            expect(byMount.filter(item => !isOwn(item))).toEqual(below)
            expect(byMount.filter(isOwn).filter(({ path }) => pages.some(page => page.path === path))).toEqual(pages)
          }
          for (const item of [...byPath, ...byMount]) for (const path of pathsOf(item)) expect(files).toHaveProperty([path])
          for (const path of [...byMount.flatMap(pathsOf), ...byPath.flatMap(item => filesOf(item).map(file => file.path))])
            expect(isInside(folder, path as RepoPath)).toBe(true)
        }
      }
    }),
    // As many in every tier: fewer might compare nothing.
    { numRuns: 15 },
  )
  expect(Math.min(compared.outside, compared.inSkills)).toBeGreaterThan(0)
})

/** Files in folders whose names stand close to each other, so many that folders begin and end everywhere. */
const manyFiles = fc
  .uniqueArray(
    fc.tuple(
      fc.array(fc.constantFrom('a', 'a-b', 'a.b', 'a0', 'b', 'é', '漢', '🌱'), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('x.md', 'y.md', 'z.md', '0.md', '~.md'),
      fc.constantFrom('garden', 'tulips', 'garden and tulips', 'bread'),
    ),
    { selector: ([folders, name]) => `${folders.join('/')}/${name}`, minLength: 120, maxLength: 300, size: 'max' },
  )
  .map(files => Object.fromEntries(files.map(([folders, name, words]) => [`${folders.join('/')}/${name}`, `# ${words}\n`])))

test('the answer for any folder of a large tree is the whole answer without results elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(manyFiles, async files => {
      const address = await open({ files: { LICENSE: MIT, ...files } })
      const whole = await findAll(address(), 'garden tulips')
      expect(whole.length).toBeGreaterThan(32)
      for (const folder of new Set(Object.keys(files).flatMap(path => ancestorsOf(path as RepoPath)))) {
        const below = whole.filter(({ path }) => isInside(folder, path as RepoPath))
        expect({ folder, items: await findAll(address(), 'garden tulips', folder) }).toEqual({ folder, items: below })
        expect({ folder, items: await findAll(address(folder), 'garden tulips') }).toEqual({ folder, items: below })
      }
    }),
    { numRuns: runs(4) },
  )
})

test('a query in any Unicode composition is the same query', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ([plan, asking]) => {
      const address = await open(planted(plan))
      for (const query of [...asking, 'über Gärten', '튤립 정원', 'ガーデン']) {
        const items = await findAll(address(), query)
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) expect(await findAll(address(), query.normalize(form))).toEqual(items)
        expect(await findAll(address(), `\u3000${query.replaceAll(' ', '\u00a0 ')}\n`)).toEqual(items)
      }
    }),
    { numRuns: runs(6) },
  )
})

test('a skill has at most five of its own files, documents are separate, and summaries are short lines of plain text', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ([plan, asking]) => {
      const { unnamed } = planted(plan)
      const address = await open(planted(plan))
      for (const query of asking) {
        for (const item of await findAll(address(), query)) {
          expect(pathsOf(item).filter(path => unnamed.has(path))).toEqual([])
          const files = filesOf(item)
          for (const { title, summary } of item.kind === 'skill' ? files : [item]) {
            expect(title).not.toBe('')
            expect(summary).toMatch(PLAIN_LINE)
            expect({ summary, isShort: countCharacters(summary) <= SUMMARY_CHARACTERS }).toEqual({ summary, isShort: true })
            expect(summary.isWellFormed()).toBe(true)
          }
          if (item.kind !== 'skill') continue
          expect(files.length).toBeLessThanOrEqual(FIND_FOLDED_FILES)
          expect(item.moreFiles).toBeGreaterThanOrEqual(0)
          if (item.moreFiles > 0) expect(files).toHaveLength(FIND_FOLDED_FILES)
          expect(
            files.every(file => isInside(item.directory as RepoPath, file.path as RepoPath) && file.path !== item.path),
          ).toBe(true)
          if (item.describedOnly) expect([files, item.moreFiles]).toEqual([[], 0])
        }
      }
    }),
    { numRuns: runs(25) },
  )
})

test('searchable content is found by any word of it, and the passage shows the word', async () => {
  await fc.assert(
    fc.asyncProperty(searchPlan, async plan => {
      const repository = planted(plan)
      const address = await open(repository)
      for (const { word, unit, file, isInBody } of repository.open) {
        const items = await findAll(address(), word)
        expect({ word, found: items.map(({ path }) => path) }).toEqual({ word, found: [unit] })
        const listed = file === unit ? items[0] : filesOf(items[0])[0]
        expect(listed?.path).toBe(file)
        if (isInBody) expect({ word, ...listed }).toMatchObject({ word, summary: expect.stringContaining(word) })
      }
    }),
    { numRuns: runs(15) },
  )
})

test('no query finds content that is excluded, closed, internal, linked only or behind a license, and no answer shows a word of it', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ([plan, asking]) => {
      const { files, hidden, unnamed, folders } = planted(plan)
      const address = await open({ files })
      for (const word of hidden) expect({ word, items: await findAll(address(), word) }).toEqual({ word, items: [] })
      for (const folder of folders) {
        const query = `${hidden.slice(0, 4).join(' ')} ${asking[0]}`
        for (const items of [await findAll(address(folder), query), await findAll(address(), query, folder)]) {
          expect(items.flatMap(pathsOf).filter(path => unnamed.has(path))).toEqual([])
          const shown = JSON.stringify(items.map(withoutTranslations))
          expect(hidden.filter(word => shown.includes(word))).toEqual([])
        }
      }
    }),
    { numRuns: runs(15) },
  )
})

test('withheld content does not even change the order of the rest', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ([plan, asking]) => {
      const [address, other] = [await open(planted(plan)), await open(planted(plan, 1))]
      for (const query of asking) {
        const [items, others] = [await findAll(address(), query), await findAll(other(), query)]
        expect(others.map(withoutTranslations)).toEqual(items.map(withoutTranslations))
      }
    }),
    { numRuns: runs(15) },
  )
})

test('the planted repositories hold every kind of content, and no word twice', () => {
  const plans = fc.sample(searchPlan, { numRuns: 50, seed: 1 })
  expect(new Set(plans.flatMap(plan => plan.areas.map(({ kind }) => kind))).size).toBe(7)
  const repositories = plans.map(plan => planted(plan))
  expect(repositories.reduce((sum, { open }) => sum + open.length, 0)).toBeGreaterThan(500)
  expect(repositories.reduce((sum, { hidden }) => sum + hidden.length, 0)).toBeGreaterThan(500)
  for (const { open, hidden } of repositories) {
    const words = [...open.map(({ word }) => word), ...hidden]
    expect(new Set(words).size).toBe(words.length)
  }
})

function filesOf(item: FoundItem | undefined) {
  return item?.kind === 'skill' ? item.files : []
}

function pathsOf(item: FoundItem): string[] {
  return [item.path, ...filesOf(item).map(({ path }) => path)]
}

/** They are shown with a skill, but searched by nobody. */
function withoutTranslations(item: FoundItem): unknown {
  return item.kind === 'skill' ? { ...item, translations: {} } : item
}

/** One line without control characters or what hides text. */
const PLAIN_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]*$/u
