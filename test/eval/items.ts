import { runYielding } from '#core/concurrency/yielding.ts'
import { TREE_ENTRIES } from '#core/limits.ts'
import { readLicenses, readManifests, readSkills } from '#indexer/pipeline/index-repository.ts'
import { readContent } from '#indexer/pipeline/read-content.ts'
import { planContent } from '#indexer/rules/plan.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifestsInSteps } from '#indexer/rules/withheld.ts'
import { type SearchInput, withText } from '#indexer/search/input.ts'
import type { SnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { jobAt } from '#test/support/answered.ts'
import type { Source } from '#test/support/local-find.ts'

/** A repository below a folder, at its default branch. */
export async function openSource(root: string, owner: string, name: string): Promise<Source> {
  const host = await openLocalHost({ root, baseUrl: 'http://127.0.0.1' })
  return { host, ...(await jobAt(host, owner, name)) }
}

/** Everything that search may name in a repository, with the very texts that the indexer hands to the search builder. */
export async function collectItems({ host, repository, commit }: Source): Promise<SearchInput[]> {
  const limits = { treeEntries: TREE_ENTRIES, treeDepthSegments: Number.MAX_SAFE_INTEGER, seconds: 600 }
  const reader = await host.open(repository, commit, limits)
  try {
    const entries = []
    for await (const entry of reader.entries()) entries.push(entry)
    const tree = buildTree(entries)
    const policy = await runYielding(applyManifestsInSteps(tree, await readManifests(reader, tree), repository.name), undefined)
    const skills = await readSkills(reader, policy, repository.name)
    const { licenses } = await readLicenses(reader, tree, policy, skills.parsed)
    const plan = planContent(tree, policy, skills.parsed, licenses, repository.visibility)
    const items: SearchInput[] = []
    const add = async (item: SearchInput) => {
      items.push(await withText(item))
    }
    await readContent(reader, WRITES_NOTHING, plan, { add, finish: async () => null }, {})
    return items
  } finally {
    await reader.close()
  }
}

const WRITES_NOTHING: SnapshotWriter<void> = {
  addRecord: async () => [0, 0, 1],
  keepRecord: () => [0, 0, 1],
  addTable: async () => {},
  finish: async () => {},
}
