import type { Address } from '#core/address.ts'
import type { SkillCommit, SkillHistory } from '#core/contract/history.ts'
import { pageHref } from './links.ts'

interface CommitLinks {
  /** What changed since the commit; `null` for the latest one, since which nothing did. */
  since: string | null
  /** What the commit itself changed; `null` where the history begins. */
  own: string | null
}

/** Where the line of a commit in the history of a skill leads. */
export function commitLinks(address: Address, { path, commits }: SkillHistory, { commit, parent }: SkillCommit): CommitLinks {
  return {
    since: commit === commits[0]?.commit ? null : pageHref(address, 'changes', { path, from: commit }),
    own: parent === null ? null : pageHref({ ...address, ref: commit }, 'changes', { path, from: parent }),
  }
}
