import type { TestApp } from '#test/support/test-app.ts'
import { FILES } from './github-address.ts'

type NamedCommits = Record<'first' | 'main' | 'behind' | 'tip' | 'tagged' | 'unrelated', string>

/** Every way to name a commit, and what the first visit with its indexing takes. Nothing may take more than three and five. */
export const REFS: readonly [what: string, ref: (side: NamedCommits) => string | null, rest: number, git: number][] = [
  ['the default branch', () => null, 2, 3],
  ['the default branch by its name', () => 'main', 2, 3],
  ['a branch', () => 'feature/x', 2, 3],
  ['a branch in full', () => 'refs/heads/feature/x', 2, 3],
  ['a branch with the name of a tag', () => 'both', 2, 3],
  ['a tag', () => 'v1', 2, 3],
  ['a tag in full', () => 'refs/tags/v1', 2, 3],
  ['an annotated tag', () => 'v2', 2, 3],
  ['a tag of a tag', () => 'v3', 2, 3],
  ['a commit at the tip of the default branch', ({ main }) => main, 2, 2],
  ['a commit of the default branch', ({ first }) => first, 2, 2],
  ['a commit at the tip of another branch', ({ tip }) => tip, 2, 3],
  ['a commit of another branch', ({ behind }) => behind, 2, 4],
  ['a commit behind a tag', ({ tagged }) => tagged, 2, 3],
  ['a commit that shares nothing with the default branch', ({ unrelated }) => unrelated, 2, 4],
]

/** Gives the repository of `ADDRESS` a commit for each row of `REFS`. */
export async function makeNamedCommits(app: TestApp): Promise<NamedCommits> {
  const repository = app.repository('acme/tools')
  const behind = await repository.commit(
    { 'docs/side.md': '# Side\n' },
    { branch: 'feature/x', parent: app.commitOf('acme/tools') },
  )
  const tip = await repository.commit({ 'docs/side.md': '# Further\n' }, { branch: 'feature/x' })
  const tagged = await repository.commit({ ...FILES, 'docs/tagged.md': '# Tagged\n' }, { branch: null })
  const unrelated = await repository.commit({ ...FILES, 'docs/else.md': '# Else\n' }, { branch: 'unrelated' })
  await repository.commit({ 'docs/side.md': '# Else\n' }, { branch: 'unrelated' })
  await repository.branch('both', tip)
  await repository.tag('both', tagged)
  await repository.tag('v1', tagged)
  const annotated = await repository.tag('v2', tagged, { annotated: true })
  await repository.tag('v3', annotated, { annotated: true, targetType: 'tag' })
  await repository.git('update-ref', 'refs/pull/1/head', tagged)
  const main = await repository.commit({ 'docs/guide.md': '# Newer\n' })
  return { first: app.commitOf('acme/tools'), main, behind, tip, tagged, unrelated }
}
