import type { Address } from '#core/address.ts'
import type { SkillCommit, SkillHistory } from '#core/contract/history.ts'
import { isSkillPath, pageHref } from './links.ts'

interface CommitLinks {
  /** What changed since the commit; `null` for one since which nothing did. */
  since: string | null
  /** What the commit itself changed; `null` where the history begins. */
  own: string | null
}

/** Where the line of a commit in the history of a skill or a folder leads. */
export function commitLinks(address: Address, history: SkillHistory, { commit, parent }: SkillCommit): CommitLinks {
  const path = history.path || undefined
  // The history of a folder lacks some of its files, so they may have changed since.
  const newest = isSkillPath(history.path) ? history.commits[0]?.commit : history.commit
  return {
    since: commit === newest ? null : pageHref(address, 'changes', { path, from: commit }),
    own: parent === null ? null : pageHref({ ...address, ref: commit }, 'changes', { path, from: parent }),
  }
}
