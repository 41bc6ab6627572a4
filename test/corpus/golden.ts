import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { type CorpusRepository, type ListedEntry, listedTree } from '#test/support/corpus.ts'
import type { Opened } from './opened.ts'
import { DIFFERENCES, PUBLISHED, type Published } from './published.ts'
import { GOLDEN, type Summary, summarize } from './summary.ts'

/** A repository is delivered as its golden file says, and is what the corpus and its survey say of it. */
export function testGolden(corpus: string, repository: CorpusRepository, opened: () => Opened): void {
  const { owner, name, directory } = repository
  const whole = listedTree(corpus, repository)
  let entries: ListedEntry[]
  let summary: Summary
  let contexts: Map<string, ContextRow>

  beforeAll(async () => {
    const { service, commit } = opened()
    entries = listCommit(service.gitDir(repository), commit)
    const indexed = await summarize(service, repository, commit)
    summary = indexed.summary
    contexts = indexed.contexts
  })

  test('is delivered as its golden file records', () => {
    const file = join(GOLDEN, `${directory}.json`)
    if (process.env.UPDATE_GOLDEN === '1') {
      mkdirSync(GOLDEN, { recursive: true })
      writeFileSync(file, `${JSON.stringify(summary, null, 2)}\n`)
    }
    if (!existsSync(file)) throw new Error(`there is no golden file ${file}: write it with UPDATE_GOLDEN=1`)
    expect(summary, 'if the change is meant: UPDATE_GOLDEN=1').toEqual(JSON.parse(readFileSync(file, 'utf8')))
  })

  test('equals its description in the corpus', () => {
    const regular = entries.filter(({ mode }) => mode === '100644' || mode === '100755')
    expect({
      files: regular.length,
      bytes: regular.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      symlinks: entries.filter(({ mode }) => mode === '120000').length,
      submodules: entries.filter(({ mode }) => mode === '160000').map(({ path }) => path),
      license: summary.license.split(', ').slice(0, 2).join(', '),
      leftOutSkills: [...contexts.values()].filter(({ directory: folder }) => folder in (repository.excludedSkillDirs ?? {})),
      truncated: summary.truncated,
    }).toEqual({
      files: repository.files,
      bytes: repository.bytes,
      symlinks: repository.symlinks,
      submodules: repository.submodules,
      license: LICENSE_DIFFERENCES[directory] ?? `open, ${repository.license}`,
      leftOutSkills: [],
      truncated: false,
    })
    expect(summary.diagnostics['tree.submodule'] ?? 0).toBe(repository.submodules.length)
  })

  if (whole !== null)
    test('equals the part of its whole tree that the listing has, with every skill', () => {
      const listed = new Map(whole.map(entry => [entry.path, entry]))
      expect(listed.size).toBe(repository.fullTreeFiles)
      for (const { path, mode, sizeBytes } of entries) {
        const entry = listed.get(path)
        expect({ path, mode, sizeBytes: mode === '160000' ? -1 : sizeBytes }).toEqual(entry)
      }
      // A link is never followed, so the regular files of that name are all there is to find, wherever they lie.
      const present = new Set(entries.map(({ path }) => path))
      const skills = [...listed.values()].filter(
        ({ path, mode }) => mode.startsWith('100') && posix.basename(path) === 'SKILL.md',
      )
      const leftOut = skills.filter(({ path }) => !present.has(path))
      expect([...contexts.keys()].toSorted()).toEqual(
        skills
          .map(({ path }) => path)
          .filter(path => present.has(path))
          .toSorted(),
      )
      if (repository.subset === null)
        expect(leftOut.map(({ path }) => posix.dirname(path))).toEqual(Object.keys(repository.excludedSkillDirs ?? {}))
    })

  const published = PUBLISHED[directory]
  if (whole !== null && published !== undefined)
    test('equals an independent survey, except for known differences', () => {
      const codes = [...contexts.values()].flatMap(({ warnings }) => warnings.map(({ code }) => code))
      const count = (...wanted: string[]) => codes.filter(code => wanted.includes(code)).length
      const sizes = new Map(entries.map(({ path, sizeBytes }) => [path, sizeBytes]))
      const largest = Math.max(...[...contexts.keys()].map(path => sizes.get(path) ?? 0))
      const kinds = [...contexts.values()].map(({ license }) => license.kind)
      const found: Published = {
        skills: contexts.size,
        nested: summary.skills.nested,
        largestKilobytes: Math.round(largest / 100) / 10,
        badYaml: count('front_matter.repaired', 'front_matter.invalid'),
        noFrontMatter: count('front_matter.missing', 'front_matter.unterminated'),
        // Without readable front matter there is no name either; the survey counts those once.
        noName: count('name.missing') - count('front_matter.missing', 'front_matter.unterminated', 'front_matter.invalid'),
        otherFolder: count('name.directory_mismatch'),
        invalidName: count('name.invalid'),
        duplicate: count('name.duplicate'),
        links: kindsOfLinks(join(opened().service.root, owner, name), whole),
        broken: brokenLinks(contexts, whole),
        licenses: [
          kinds.filter(kind => kind === 'open').length,
          kinds.filter(kind => kind === 'restricted').length,
          kinds.filter(kind => kind === 'unknown').length,
          kinds.filter(kind => kind === 'none').length,
        ],
      }
      expect(found).toEqual({ ...published, ...DIFFERENCES[directory] })
    })
}

/** Where the license of the root is recognised as something else than people call it. */
const LICENSE_DIFFERENCES: Readonly<Record<string, string>> = {
  // The same, in the order of the names of its two files.
  'rust-lang__book': 'open, Apache-2.0 OR MIT',
  // CC-BY-4.0 "except for all image files": whether the exception takes something back no program can tell.
  'vuejs-translations__docs-ja': 'unknown, –',
  // CC-BY-4.0, and MIT for one folder: a text that names two licenses is neither.
  'tldr-pages__tldr': 'unknown, –',
}

function listCommit(gitDir: string, commit: CommitSha): ListedEntry[] {
  const output = execFileSync('git', [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-z', '-l', commit], {
    maxBuffer: 64 * 1024 * 1024,
  })
  return output
    .toString('utf8')
    .split('\0')
    .flatMap(line => {
      const [, mode, size, path] = /^(\d+) \w+ \w+ +(\S+)\t(.*)$/s.exec(line) ?? []
      return mode && path ? [{ mode, sizeBytes: Number(size), path }] : []
    })
}

/** Links that end at a file, at a folder, at nothing, judged in the whole tree. */
function kindsOfLinks(folder: string, whole: readonly ListedEntry[]): Published['links'] {
  const modes = new Map(whole.map(({ path, mode }) => [path, mode]))
  const folders = foldersOf(whole)
  const kindOf = (path: string, hops = 0): 0 | 1 | 2 => {
    if (folders.has(path)) return 1
    const mode = modes.get(path)
    if (mode !== '120000') return mode === undefined ? 2 : 0
    return hops > 5 ? 2 : kindOf(posix.join(posix.dirname(path), readlinkSync(join(folder, path))), hops + 1)
  }
  const kinds = whole.filter(({ mode }) => mode === '120000').map(({ path }) => kindOf(path))
  const count = (kind: 0 | 1 | 2) => kinds.filter(one => one === kind).length
  return [count(0), count(1), count(2)]
}

/** Warnings of broken links, without those whose target only the archive lacks. */
function brokenLinks(contexts: ReadonlyMap<string, ContextRow>, whole: readonly ListedEntry[]): number {
  const known = new Set([...whole.map(({ path }) => path), ...foldersOf(whole)])
  return [...contexts.values()].flatMap(({ directory, warnings }) =>
    warnings.filter(({ code, values }) => {
      const target = String(values?.target).replace(/[?#].*$/, '')
      return code === 'reference.broken' && !known.has(posix.join(directory, target).replace(/\/$/, ''))
    }),
  ).length
}

function foldersOf(entries: readonly ListedEntry[]): Set<string> {
  const folders = new Set<string>()
  for (const { path } of entries) {
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) folders.add(folder)
  }
  return folders
}
