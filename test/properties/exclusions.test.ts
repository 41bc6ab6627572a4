import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ancestorsOf, joinPath, type RepoPath } from '#core/repo-path.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests } from '#indexer/rules/withheld.ts'

/** Files of a repository, and the exclusions that the manifests of some of its folders declare. */
interface Case {
  files: RepoPath[]
  lists: { folder: RepoPath; patterns: string[] }[]
}

let work: string
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'mountglass-ignore-'))
  git(['init', '--quiet', work])
})
afterAll(() => rmSync(work, { recursive: true, force: true }))

test('the exclusions equal `git check-ignore`, except that a deeper list never lifts them', () => {
  let pairs = 0
  const property = fc.property(fc.array(repository, { minLength: 1, maxLength: 150, size: 'max' }), cases => {
    const asked = cases.map(one => ({ one, paths: pathsOf(one) }))
    const verdicts = askGit(cases)
    for (const { one, paths } of asked) {
      const reasonOf = excludedBy(one)
      const ofGit = verdicts.shift() as GitVerdicts
      for (const path of paths) {
        pairs += one.lists.reduce((sum, list) => sum + list.patterns.length, 0)
        const ours = reasonOf(path)
        const story = `${JSON.stringify(path)} under ${JSON.stringify(one.lists)}`
        expect(`${ours} ${story}`).toBe(`${ofGit.alone.some(ignored => ignored.has(path))} ${story}`)
        const mayDiffer = one.lists.slice(1).some(({ patterns }) => patterns.some(pattern => pattern.startsWith('!')))
        const stacked = ofGit.stacked.has(path)
        if (stacked || !mayDiffer) expect(`${ours} ${story}`).toBe(`${stacked} ${story}`)
      }
    }
  })
  while (pairs < 5_000) fc.assert(property, { numRuns: 2 })
})

const name = fc.constantFrom(
  ...'a/b/ab/abc/a.md/b.md/.a/a b/a / a/#a/!a/[a]/a*/?/{a,b}/(a)/a+/^a/$a/-/~/a|b/A/%5B/a&b/…/.../drafts'.split('/'),
  ...'é/e\u0301/à/漢字/🙂/\u00a0/a\u3000'.split('/'),
)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join('/') as RepoPath)

const piece = fc.oneof(
  { weight: 6, arbitrary: name },
  { weight: 3, arbitrary: name.map(plain => plain.replace(/[[\]*?!#\\ ]/g, String.raw`\$&`)) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ...'*  **  ***  ?  ??  *.md  a*  *a  *a*b*  **a  a**  .  ..  ?.md'.split('  '),
      ...String.raw`[a-c]  [!a]  [^a]  []a]  [a-]  [a  []  [/]  [z-a]  [a-c]*  [é]  [é-à]  [\]]  [\-a]  \a  \*  \ `.split('  '),
      ...'[[:alpha:]]  [[:space:]]a  [![:alpha:]]*  [[:punct:]]*  '.split('  '),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...'ab*?[]!\\^-.# é🙂'), { maxLength: 8 }).map(characters => characters.join('')),
  },
)
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '/', '/', '!/', '\\', ' ', '**/'),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '', '/', '/**', '/*', ' ', '\\ ', '  ', '\t'),
  )
  .map(([start, pieces, end]) => start + pieces.join('/') + end)

const repository: fc.Arbitrary<Case> = fc
  .tuple(
    fc.uniqueArray(path, { minLength: 1, maxLength: 8 }),
    fc.array(fc.array(pattern, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    fc.nat(),
  )
  .map(([paths, patterns, choice]) => {
    const files = paths.filter(file => !paths.some(other => other.startsWith(`${file}/`)))
    const folders = ancestorsOf(files[choice % files.length] as RepoPath)
    return {
      files,
      lists: patterns.slice(0, folders.length).map((list, depth) => ({ folder: folders[depth] as RepoPath, patterns: list })),
    }
  })

/** Files and folders that are asked for. */
function pathsOf({ files }: Case): RepoPath[] {
  return [...new Set(files.flatMap(file => [...ancestorsOf(file), file]))].filter(path => path !== '')
}

function excludedBy({ files, lists }: Case): (path: RepoPath) => boolean {
  const manifests = lists.map(({ folder, patterns }) => ({
    path: joinPath(folder, 'SKILLSET.md'),
    bytes: new TextEncoder().encode(`---\nexclude: ${JSON.stringify(patterns)}\n---\n`),
  }))
  const tree = buildTree([
    ...files.map(path => ({ path, mode: '100644' as const, oid: 'file', sizeBytes: 0 })),
    ...manifests.map(({ path, bytes }) => ({ path, mode: '100644' as const, oid: path, sizeBytes: bytes.length })),
  ])
  const policy = applyManifests(tree, oid => manifests.find(manifest => manifest.path === oid)?.bytes ?? null, 'repository')
  expect(policy.diagnostics).toEqual([])
  return path => policy.reasonOf(path) === 'excluded'
}

interface GitVerdicts {
  /** Ignored with every list in its place. */
  stacked: Set<string>
  /** Ignored with one list alone. */
  alone: Set<string>[]
}

/** Asks git once for all: each case lies in a folder of its own, once with all of its lists and once with each of them alone. */
function askGit(cases: readonly Case[]): GitVerdicts[] {
  const at = mkdtempSync(join(work, 'cases-'))
  const questions: string[] = []
  const variants = cases.flatMap((one, number) =>
    [one.lists, ...(one.lists.length > 1 ? one.lists.map(list => [list]) : [])].map((lists, variant) => {
      const folder = join(at, `${number}-${variant}`)
      for (const path of pathsOf(one)) {
        if (!one.files.includes(path)) mkdirSync(join(folder, path), { recursive: true })
        questions.push(join(folder, path))
      }
      for (const list of lists) {
        mkdirSync(join(folder, list.folder), { recursive: true })
        writeFileSync(
          join(folder, list.folder, '.gitignore'),
          list.patterns.map(pattern => `${asTheManualHasIt(pattern)}\n`).join(''),
        )
      }
      return { one, folder }
    }),
  )
  const output = git(['check-ignore', '--no-index', '-z', '--verbose', '--non-matching', '--stdin'], `${questions.join('\0')}\0`)
  rmSync(at, { recursive: true })
  const fields = output.split('\0')
  const ignored = new Set<string>()
  for (let field = 0; field + 3 < fields.length; field += 4) {
    const [, , pattern = '', path = ''] = fields.slice(field, field + 4)
    if (pattern !== '' && !pattern.startsWith('!')) ignored.add(path)
  }
  const sets = variants.map(({ one, folder }) => new Set<string>(pathsOf(one).filter(path => ignored.has(join(folder, path)))))
  return cases.map(({ lists }) => {
    const stacked = sets.shift() as Set<string>
    return { stacked, alone: lists.length > 1 ? lists.map(() => sets.shift() as Set<string>) : [stacked] }
  })
}

/**
 * Asterisks that are no whole segment are one asterisk, says gitignore(5). Some versions of git compare two addresses in memory there and
 * take them for more, depending on where they lie.
 */
function asTheManualHasIt(pattern: string): string {
  return pattern.replace(/(?<=[^/!])\*{2,}|(?<=^!?|\/)\*{2,}(?=[^/* ])/g, '*')
}

function git(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', ['-c', 'core.ignoreCase=false', ...args], {
    input,
    cwd: dirname(work),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_DIR: join(work, '.git'),
      GIT_WORK_TREE: work,
    },
  })
  if (status !== 0 && !(args[0] === 'check-ignore' && status === 1)) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout
}
