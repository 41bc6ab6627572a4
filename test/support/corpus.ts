import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cp, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import type { Client } from './joined.ts'
import { type TestApp, testApp } from './test-app.ts'

/** Real public repositories beside the project, as data. Absent outside its own CI: `null`. */
export const CORPUS =
  [join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus')].find(folder => existsSync(join(folder, 'CORPUS.json'))) ??
  null

export interface CorpusRepository {
  owner: string
  name: string
  /** Name of its archive and of its listing. */
  directory: string
  license: string
  /** Regular files that the archive holds. */
  files: number
  symlinks: number
  /** Of the regular files. */
  bytes: number
  /** Files, links and submodules of the whole tree, of which the archive is a part. */
  fullTreeFiles: number
  submodules: string[]
  /** What was chosen from the whole tree; `null`: all its text. */
  subset: string | null
  /** Folders of skills that the archive does not hold. */
  excludedSkillDirs: Record<string, unknown> | null
}

/** An entry of a whole tree, as the listings have it. */
export interface ListedEntry {
  mode: string
  sizeBytes: number
  path: string
}

export function corpusRepositories(corpus: string): CorpusRepository[] {
  return (JSON.parse(readFileSync(join(corpus, 'CORPUS.json'), 'utf8')) as { repositories: CorpusRepository[] }).repositories
}

/** The whole tree that an archive was taken from; `null` where there is no listing. */
export function listedTree(corpus: string, { directory }: CorpusRepository): ListedEntry[] | null {
  const listing = join(corpus, '_trees', `${directory}.tsv`)
  if (!existsSync(listing)) return null
  const lines = readFileSync(listing, 'utf8').split('\n')
  return lines.flatMap(line => {
    const [mode, size, ...path] = line.split('\t')
    return mode && path.length > 0 ? [{ mode, sizeBytes: Number(size), path: path.join('\t') }] : []
  })
}

/**
 * Turns a repository of the corpus into a git repository `<root>/<owner>/<name>` of one commit with fixed dates.
 *
 * @param change alters the files of the folder before they are committed
 */
export async function unpackCorpus(
  corpus: string,
  { owner, name, directory, submodules }: CorpusRepository,
  root: string,
  change: (folder: string) => void = () => {},
): Promise<CommitSha> {
  const parent = join(root, owner)
  const folder = join(parent, name)
  await mkdir(parent, { recursive: true })
  execFileSync('tar', ['-xzf', join(corpus, `${directory}.tar.gz`), '-C', parent])
  await rename(join(parent, directory), folder)
  change(folder)
  return commitAll(folder, submodules)
}

/** Turns a copy of a folder into a git repository `<root>/<owner>/<name>`, likewise. */
export async function commitFolder(
  source: string,
  root: string,
  { owner, name }: Pick<CorpusRepository, 'owner' | 'name'>,
): Promise<CommitSha> {
  const folder = join(root, owner, name)
  await cp(source, folder, { recursive: true, verbatimSymlinks: true })
  return commitAll(folder, [])
}

/** Commits what the files of an unpacked repository are now. */
export function commitChanges(folder: string): CommitSha {
  const git = gitIn(folder)
  git('add', '--all', '--force', '.')
  git('commit', '--quiet', '--message=changes')
  return git('rev-parse', 'HEAD').toString().trim() as CommitSha
}

function commitAll(folder: string, submodules: readonly string[]): CommitSha {
  const git = gitIn(folder)
  git('init', '--quiet', '--initial-branch=main', '.')
  // The files are the blobs already: what the repository's own attributes say of line ends must not change them again.
  writeFileSync(join(folder, '.git', 'info', 'attributes'), '* -text -filter -ident !working-tree-encoding\n')
  git('add', '--all', '--force', '.')
  for (const path of submodules) git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},${path}`)
  git('commit', '--quiet', '--message=corpus')
  return git('rev-parse', 'HEAD').toString().trim() as CommitSha
}

/** Git in a folder, with fixed dates. */
function gitIn(folder: string) {
  const date = '2026-01-01T00:00:00Z'
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  }
  return (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=corpus', '-c', 'user.email=corpus@example.org', ...args], { cwd: folder, env })
}

/** A service over an empty folder of repositories, for `unpackCorpus` to fill. */
export interface CorpusApp extends Client {
  app: TestApp
  root: string
  gitDir(repository: Pick<CorpusRepository, 'owner' | 'name'>): string
  close(): Promise<void>
}

export async function corpusApp(): Promise<CorpusApp> {
  const app = await testApp({})
  const { root } = app.repositories
  return {
    app,
    root,
    gitDir: ({ owner, name }) => join(root, owner, name, '.git'),
    get: (name, address, query) => app.ask(name, address, query),
    close: () => app.close(),
  }
}
