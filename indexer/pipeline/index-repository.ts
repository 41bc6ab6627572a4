import { inTurns } from '#core/concurrency/turns.ts'
import { INDEXED_TEXT_BYTES } from '#core/limits.ts'
import type { HostRepository, RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import { assemble } from '../rules/assemble.ts'
import { limitDiagnostic, planContent } from '../rules/plan.ts'
import { buildTree, type Tree } from '../rules/tree.ts'
import { applyManifestsInSteps } from '../rules/withheld.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import { keepHeapSmall } from './heap.ts'
import { IndexError } from './index-error.ts'
import type { IndexOptions, Progress } from './progress.ts'
import { readContent } from './read-content.ts'
import { readLicenses, readManifests, readSkills } from './read-policy.ts'
import { withAskedSizes } from './select-blobs.ts'

/**
 * Turns an opened repository into a snapshot, from its tree to the header.
 *
 * Bytes are read in three rounds, each decided by pure functions over what is known by then: manifests; skills and licenses;
 * then the content, a file at a time. The same commit gives the same objects.
 *
 * @throws IndexError, ReadError, or whatever the writer throws
 */
export async function indexRepository<Written>(
  writer: SnapshotWriter<Written>,
  reader: RepositoryReader,
  repository: Pick<HostRepository, 'name' | 'visibility'>,
  options: IndexOptions = {},
): Promise<Written> {
  const { onProgress = () => {}, search = null, signal } = options

  const tree = buildTree(withAskedSizes(await readEntries(reader, onProgress)))
  if (isLarge(tree)) keepHeapSmall()
  signal?.throwIfAborted()

  onProgress({ stage: 'policy', done: 0, total: null })
  const policy = await inTurns(applyManifestsInSteps(tree, await readManifests(reader, tree), repository.name), signal)
  const skills = await readSkills(reader, policy, repository.name)
  const { licenses, dropped } = await readLicenses(reader, tree, policy, skills.parsed)
  const plan = planContent(tree, policy, skills.parsed, licenses, repository.visibility)
  plan.diagnostics.push(...skills.diagnostics)
  if (dropped > 0)
    plan.diagnostics.push(
      limitDiagnostic('index.limit_bytes', `${dropped} license texts left out behind ${INDEXED_TEXT_BYTES} bytes of them`),
    )
  signal?.throwIfAborted()

  const content = await readContent(reader, writer, plan, search, options)
  signal?.throwIfAborted()

  onProgress({ stage: 'write', done: 0, total: null })
  // The search first: its postings are the most that is held.
  const section = search === null ? null : await search.finish()
  signal?.throwIfAborted()
  const { tables, root } = assemble(plan, content)
  for (const name of Object.keys(tables).sort() as (keyof typeof tables)[]) await writer.addTable(name, tables[name] as never)
  signal?.throwIfAborted()
  return writer.finish({
    truncated: plan.truncated || skills.truncated || dropped > 0,
    search: section,
    root,
  })
}

/** Whether reading it makes so much text that memory is worth more than time. */
function isLarge(tree: Tree): boolean {
  let files = 0
  for (const folder of tree.folders.values()) files += folder.files.size
  return files > LARGE_FILES
}

const LARGE_FILES = 4_000

async function readEntries(reader: RepositoryReader, onProgress: (progress: Progress) => void): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  for await (const entry of reader.entries()) {
    if (entries.push(entry) % 10_000 === 0) onProgress({ stage: 'tree', done: entries.length, total: null })
  }
  // A manifest that was not seen may exclude what was: a part of the tree cannot be delivered.
  if (reader.cut) throw new IndexError('index.too_large', `more than ${entries.length} tree entries`)
  onProgress({ stage: 'tree', done: entries.length, total: entries.length })
  return entries
}
