import { join } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { pathKind } from '#indexer/rules/content-kind.ts'
import { answered } from '#test/support/answered.ts'
import type { CorpusApp } from '#test/support/corpus.ts'
import { joinSkill } from '#test/support/joined.ts'

/** One readable summary for each repository. */
export const GOLDEN = join(import.meta.dirname, '..', 'fixtures', 'golden')

type Counts = Record<string, number>

/** What of a repository is delivered, in numbers. Licenses read `kind, name, source`; a source inside its skill's folder begins with `…/`. */
export interface Summary {
  truncated: boolean
  license: string
  /** `nested`: inside the folder of another skill. `internal` ones are not listed. */
  skills: { listed: number; internal: number; nested: number; describedOnly: number }
  /** `overviews` and `community` outside skills; `linked`: readable since something links to them. */
  files: { supporting: number; documents: number; overviews: number; community: number; manifests: number; linked: number }
  /** Files that are known but not delivered, by code. */
  refusals: Counts
  licensesOfSkills: Counts
  /** Of every folder, outside its skills: kind and name. */
  licensesOfFolders: Counts
  warnings: Counts
  diagnostics: Counts
  /** Everything that agents receive who load every skill. `pagesPerSkill`: skills by their number of pages. */
  contexts: { pages: number; characters: number; references: number; pagesPerSkill: Counts }
}

/** Sums up a repository that is indexed, from its snapshot and from the pages of every skill. */
export async function summarize(
  service: CorpusApp,
  repository: { owner: string; name: string },
  commit: CommitSha,
): Promise<{ summary: Summary; contexts: Map<string, ContextRow> }> {
  const address = `/local/${repository.owner}/${repository.name}`
  const described: HostRepository = answered(await service.app.host.repository(repository.owner, repository.name))
  const snapshot = await service.app.deps.snapshots.open(described, commit)
  if (snapshot === null) throw new Error(`${address} is not indexed`)

  // A symlink to a skill gives it a second path, and nothing else.
  const contexts = new Map((await snapshot.range('contexts')).filter(([, { target }]) => target === undefined))
  const files = new Map((await snapshot.range('files')).filter(([, { target }]) => target === undefined))
  const documents = new Set((await snapshot.range('documents')).map(([path]) => path))
  const manifests = new Set((await snapshot.range('manifests')).map(([path]) => path))
  const listed = new Set((await snapshot.range('skills')).map(([path]) => path))
  const supporting = new Set(
    (await snapshot.range('entries')).flatMap(([, { kind, path }]) =>
      kind === 'file' && !documents.has(path) && !contexts.has(path) ? [path] : [],
    ),
  )
  const others = [...files.keys()].filter(path => !(contexts.has(path) || documents.has(path) || manifests.has(path)))
  const outside = others.filter(path => !supporting.has(path))
  const ofKind = (kind: 'overview' | 'community') => outside.filter(path => pathKind(path as RepoPath) === kind).length

  const all = [...contexts]
  const joined = await sequentially(all, ([path]) => joinSkill(service, address, path))
  const characters = joined.map(({ rules, body, includes }) =>
    [...rules, ...includes].reduce((sum, { text }) => sum + [...text].length, [...body].length),
  )
  const { folder } = snapshot.header.root
  const summary: Summary = {
    truncated: snapshot.header.truncated,
    license: describeLicense(folder.license, ''),
    skills: {
      listed: listed.size,
      internal: contexts.size - listed.size,
      nested: all.filter(([, { directory }]) => all.some(([, other]) => encloses(other.directory, directory))).length,
      describedOnly: all.filter(([, { full }]) => full === undefined).length,
    },
    files: {
      supporting: supporting.size,
      documents: documents.size,
      overviews: ofKind('overview'),
      community: ofKind('community'),
      manifests: manifests.size,
      linked: outside.length - ofKind('overview') - ofKind('community'),
    },
    refusals: count([...files.values()].flatMap(({ refusal }) => refusal ?? [])),
    licensesOfSkills: count(all.map(([, { license, directory }]) => describeLicense(license, directory))),
    licensesOfFolders: count(
      (await snapshot.range('folders')).map(([, { license }]) => `${license.kind}, ${license.name ?? '–'}`),
    ),
    warnings: count(all.flatMap(([, { warnings }]) => warnings.map(({ code }) => code))),
    diagnostics: count((await snapshot.range('diagnostics')).map(([, { code }]) => code)),
    contexts: {
      pages: sum(joined.map(({ pages }) => pages)),
      characters: sum(characters),
      references: sum(joined.map(({ first }) => first.references?.length ?? 0)),
      pagesPerSkill: count(joined.map(({ pages }) => String(pages))),
    },
  }
  return { summary, contexts }
}

function describeLicense({ kind, name, source }: ContextRow['license'], directory: string): string {
  const inside = source !== null && directory !== '' && isInside(directory as RepoPath, source as RepoPath)
  return [kind, name ?? '–', inside ? `…/${source.slice(directory.length + 1)}` : (source ?? '–')].join(', ')
}

function encloses(outer: string, inner: string): boolean {
  return outer !== inner && isInside(outer as RepoPath, inner as RepoPath)
}

function count(words: readonly string[]): Counts {
  const counts: Counts = {}
  for (const word of [...words].sort()) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

async function sequentially<Item, Result>(items: readonly Item[], task: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await task(item))
  return results
}
