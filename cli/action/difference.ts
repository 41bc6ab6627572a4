import { z } from 'zod'
import type { CommitSha } from '#core/commit-sha.ts'
import { INDEX_WALL_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import { ROOT } from '#core/repo-path.ts'
import { type Compared, compareRead, readSide } from '#indexer/check/difference.ts'
import { findBase, findForkPoint, openCommit } from '#infra/worktree/commit.ts'
import { requireClone } from './checkout.ts'

/** The fields of a workflow's event that a comparison needs. */
const Event = z.object({
  pull_request: z.object({ base: z.object({ sha: z.string(), ref: z.string() }) }).optional(),
  /** Of a push: the commit that the branch had. */
  before: z.string().optional(),
  repository: z.object({ private: z.boolean() }).optional(),
})

const LIMITS = {
  treeEntries: TREE_ENTRIES,
  treeDepthSegments: Number.MAX_SAFE_INTEGER,
  seconds: INDEX_WALL_SECONDS,
}

/**
 * Compares the commit that is checked out with the base of the pull request, with the commit before the push, or with a ref. Both sides are
 * read from the objects of the clone. A private repository is compared as one.
 *
 * @param from a ref; empty: by the event
 * @throws Error when the clone lacks one of the commits
 */
export async function compareCheckout(folder: string, from: string, payload: unknown): Promise<Compared> {
  const event = Event.parse(payload)
  const gitDir = await requireClone(folder)
  const head = await findBase(gitDir, 'HEAD')
  const base = await baseOf(gitDir, from, event)
  const repository = { name: 'repository', visibility: event.repository?.private ? 'private' : 'public' } as const
  const read = async (commit: CommitSha) => {
    const reader = await openCommit(gitDir, commit, LIMITS)
    try {
      return await readSide(reader, repository, ROOT)
    } finally {
      await reader.close()
    }
  }
  const [before, after] = [await read(base.commit), await read(head.commit)]
  return await compareRead(before, after, { from: base, to: { commit: head.commit }, path: ROOT })
}

async function baseOf(gitDir: string, from: string, { pull_request, before }: z.infer<typeof Event>) {
  if (from !== '') return await findBase(gitDir, from)
  if (pull_request) {
    const { sha, ref } = pull_request.base
    return { ref, commit: await findForkPoint(gitDir, 'HEAD', sha) }
  }
  const isNewBranch = before === undefined || /^0+$/.test(before)
  return await findBase(gitDir, isNewBranch ? null : before)
}

/** Outputs of the step, as `action.yml` names them. */
export function differenceOutputs({ items }: Pick<Compared, 'items'>): Record<string, string> {
  return { changes: String(items.length) }
}
