import { inTurns } from '#core/concurrency/turns.ts'
import { INDEXED_TEXT_BYTES } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { say } from '#core/words/findings.ts'
import type { BlobReader, RepositoryTree } from '../reuse/repository-tree.ts'
import { assembleInSteps } from '../rules/assemble.ts'
import { limitDiagnostic, type Plan, planContent } from '../rules/plan.ts'
import { buildTree, type Tree } from '../rules/tree.ts'
import { applyManifestsInSteps } from '../rules/withheld.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import type { IndexOptions } from './progress.ts'
import { readContent } from './read-content.ts'
import { readLicenses, readLinkTexts, readManifests, readSkills } from './read-policy.ts'
import { withAskedSizes } from './select-blobs.ts'

type IndexedRepository = Pick<HostRepository, 'name' | 'visibility'>

/**
 * Turns a repository whose tree was read into a snapshot.
 *
 * Blobs are read in rounds, and pure functions over what is known by then select each of them: where symlinks lead; the manifests; the skills
 * and the license texts; the content, a file at a time. The same commit gives the same objects, unless `usedTime` left files out: which ones depends
 * on the machine.
 *
 * @throws IndexError, ReadError, or an error of the writer
 */
export async function indexRepository<Written>(
  writer: SnapshotWriter<Written>,
  { entries, ...blobs }: RepositoryTree,
  repository: IndexedRepository,
  options: IndexOptions = {},
): Promise<Written> {
  const { onProgress = () => {}, search = null, signal, committedAt } = options
  const asked = withAskedSizes(entries)
  const tree = buildTree(asked, await readLinkTexts(blobs, asked))
  signal?.throwIfAborted()

  onProgress({ stage: 'policy', done: 0, total: null })
  const { plan: whole, truncated } = await readPlan(blobs, tree, repository, options)
  signal?.throwIfAborted()

  const { content, plan, section } = await readContent(blobs, writer, whole, search, options)
  signal?.throwIfAborted()

  onProgress({ stage: 'write', done: 0, total: null })
  const { tables, root } = await inTurns(assembleInSteps(plan, content), signal)
  for (const name of Object.keys(tables).sort() as (keyof typeof tables)[]) await writer.addTable(name, tables[name] as never)
  await options.confirm?.()
  signal?.throwIfAborted()
  const isPartial = truncated || plan.truncated
  return writer.finish({ ...(committedAt ? { committedAt } : {}), truncated: isPartial, search: section, root })
}

/**
 * Reads manifests, skills and licenses, and plans the content.
 *
 * @returns `truncated`: a limit left something out
 */
async function readPlan(
  blobs: BlobReader,
  tree: Tree,
  repository: IndexedRepository,
  { signal, usedTime }: IndexOptions,
): Promise<{ plan: Plan; truncated: boolean }> {
  const policy = await inTurns(applyManifestsInSteps(tree, await readManifests(blobs, tree), repository.name), signal)
  const skills = await readSkills(blobs, policy, repository.name, usedTime)
  const { licenses, dropped } = await readLicenses(blobs, tree, policy, skills.parsed)
  const plan = planContent(tree, policy, skills.parsed, licenses, repository.visibility)
  plan.diagnostics.push(...skills.diagnostics)
  if (dropped > 0) {
    const message = say('index.limit_bytes:licenses', { n: dropped, limit: INDEXED_TEXT_BYTES })
    plan.diagnostics.push(limitDiagnostic('index.limit_bytes', message))
  }
  return { plan, truncated: plan.truncated || skills.truncated || dropped > 0 }
}
