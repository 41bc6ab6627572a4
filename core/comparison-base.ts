import type { CommitSha } from './commit-sha.ts'
import { compareBytes } from './text.ts'
import { compareVersions, type VersionName } from './version-name.ts'

/** A tag that a comparison may begin at. */
export interface BaseTag {
  /** As an address spells it: the full name where a branch has the same one. */
  ref: string
  commit: CommitSha
  /** ISO 8601, UTC; `null` where the host does not say. */
  date: string | null
  /** Its last part that reads as a version. */
  version: VersionName | null
}

/** What is known of the commit that is shown. */
export interface ShownCommit {
  commit: CommitSha
  /** ISO 8601, UTC; `null` where it is not known. */
  date: string | null
  /** It is where the default branch is now, so that no tag of it is newer. */
  isDefault: boolean
  /** Whether the commit of a tag is an ancestor; `null` where the host does not tell. */
  isAncestor(commit: CommitSha): boolean | null
  /** The first parent; `null` for the first commit, `undefined` where the host does not tell. */
  parent: CommitSha | null | undefined
}

/** What a page compares with that names no older side. */
export type ComparisonBase =
  | { kind: 'tag'; ref: string; commit: CommitSha }
  | { kind: 'parent'; commit: CommitSha }
  /** Nothing is older. */
  | { kind: 'first' }
  /** The host does not say what is older. */
  | { kind: 'unknown' }

/**
 * Chooses the older side of a comparison: the newest tag that is another commit and not a later one, else the first parent.
 *
 * The newest is the highest version among the tags with the prefix of the latest one, so that a repository with versions of several packages compares
 * those of one; where no tag is a version, the tag of the latest commit.
 */
export function chooseBase(shown: ShownCommit, tags: readonly BaseTag[]): ComparisonBase {
  const own = tags.filter(({ commit }) => commit === shown.commit)
  const older = tags.filter(tag => tag.commit !== shown.commit && isOlder(tag, shown, own))
  const newest = newestOf(older)
  if (newest !== null) return { kind: 'tag', ref: newest.ref, commit: newest.commit }
  if (shown.parent === undefined) return { kind: 'unknown' }
  return shown.parent === null ? { kind: 'first' } : { kind: 'parent', commit: shown.parent }
}

/** @param own the tags of the commit that is shown */
function isOlder(tag: BaseTag, shown: ShownCommit, own: readonly BaseTag[]): boolean {
  const isAncestor = shown.isAncestor(tag.commit)
  if (isAncestor !== null) return isAncestor
  if (tag.date !== null && shown.date !== null) return Date.parse(tag.date) <= Date.parse(shown.date)
  if (shown.isDefault) return true
  const { version } = tag
  return own.some(one => version !== null && one.version?.prefix === version.prefix && compareVersions(version, one.version) < 0)
}

type VersionTag = BaseTag & { version: VersionName }

function newestOf(tags: readonly BaseTag[]): BaseTag | null {
  const versions = tags.filter((tag): tag is VersionTag => tag.version !== null)
  if (versions.length === 0) return maxOf(tags, byDate)
  const hasDates = versions.some(({ date }) => date !== null)
  const prefix = maxOf(versions, hasDates ? byDate : byVersion)?.version.prefix
  return maxOf(
    versions.filter(({ version }) => version.prefix === prefix),
    byVersion,
  )
}

type Order<Tag> = (left: Tag, right: Tag) => number

const byDate: Order<BaseTag> = (left, right) => timeOf(left) - timeOf(right) || compareNames(left, right)
const byVersion: Order<VersionTag> = (left, right) =>
  compareVersions(left.version, right.version) || timeOf(left) - timeOf(right) || compareNames(left, right)

function compareNames(left: BaseTag, right: BaseTag): number {
  if (left.version !== null && right.version !== null)
    return compareVersions(left.version, right.version) || compareBytes(left.ref, right.ref)
  return compareBytes(left.ref, right.ref)
}

function timeOf({ date }: BaseTag): number {
  return date === null ? 0 : Date.parse(date)
}

function maxOf<Tag>(tags: readonly Tag[], order: Order<Tag>): Tag | null {
  return tags.reduce<Tag | null>((max, tag) => (max === null || order(tag, max) > 0 ? tag : max), null)
}
