import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

/** Real public repositories beside the project, as data. Absent outside its own CI: `null`. */
export const CORPUS =
  [join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus')].find(folder => existsSync(join(folder, 'CORPUS.json'))) ??
  null

export interface CorpusRepository {
  owner: string
  name: string
  directory: string
  files: number
}

export function corpusRepositories(corpus: string): CorpusRepository[] {
  return (JSON.parse(readFileSync(join(corpus, 'CORPUS.json'), 'utf8')) as { repositories: CorpusRepository[] }).repositories
}

/** Turns a repository of the corpus into a git repository `<root>/<owner>/<name>` of one commit with fixed dates. */
export async function unpackCorpus(corpus: string, { owner, name, directory }: CorpusRepository, root: string): Promise<void> {
  const folder = join(root, owner)
  await mkdir(folder, { recursive: true })
  execFileSync('tar', ['-xzf', join(corpus, `${directory}.tar.gz`), '-C', folder])
  await rename(join(folder, directory), join(folder, name))
  const date = '2026-01-01T00:00:00Z'
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=corpus', '-c', 'user.email=corpus@example.org', ...args], {
      cwd: join(folder, name),
      env,
      stdio: 'ignore',
    })
  git('init', '--initial-branch=main', '.')
  git('add', '--all', '--force', '.')
  git('commit', '--quiet', '--message=corpus')
}
