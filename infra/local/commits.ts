import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRefName } from '#core/address.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { ifAbsent, readSmallFile } from '#infra/git/contained.ts'
import { GitError, runGit } from '#infra/git/process.ts'
import { withView } from '#infra/git/view.ts'
import { type Place, readHead } from './place.ts'
import type { Computed, Watch } from './signed-cache.ts'

/**
 * The commit that a ref of the repository names; `null` when there is none. Git gets exact ref names, never a revision expression.
 *
 * @param ref a branch, a tag, `refs/…` or 40 hex digits; `null` and `HEAD` stand for the target of HEAD
 * @throws GitError when git was killed or could not be started
 */
export async function findCommit(
  place: Place,
  ref: string | null,
  watch: Watch,
  signal: AbortSignal,
): Promise<Computed<CommitSha | null>> {
  if (ref !== null && isCommitSha(ref)) return findPinnedCommit(place, ref.toLowerCase(), signal)
  if (ref !== null && ref !== 'HEAD') return isRefName(ref) ? findRef(place, fullNames(ref), watch, signal) : NO_COMMIT

  watch(join(place.gitDir, 'HEAD'))
  const head = await readHead(place.gitDir)
  if (head === null) return { value: null, keep: false }
  if ('ref' in head) return findRef(place, [head.ref], watch, signal)
  return { value: await withView(place.commonDir, gitDir => peel(gitDir, head.commit, signal)), keep: true }
}

const NO_COMMIT: Computed<null> = { value: null, keep: true }

/** The candidates, best first: a branch wins over a tag of the same name. */
function fullNames(ref: string): string[] {
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

const REFS_OUTPUT_BYTES = 64 * 1024 * 1024

/** The first of the refs that exists. */
async function findRef(
  place: Place,
  names: readonly string[],
  watch: Watch,
  signal: AbortSignal,
): Promise<Computed<CommitSha | null>> {
  watch(join(place.commonDir, 'packed-refs'))
  for (const name of names) await watchRef(place.commonDir, name, watch)

  return withView(place.commonDir, async gitDir => {
    const format = '--format=%(refname) %(objectname) %(objecttype)'
    const args = ['for-each-ref', format, '--end-of-options', ...names]
    const output = await runGit(args, { gitDir, signal, maxOutputBytes: REFS_OUTPUT_BYTES }).catch(ifAnswered)
    // Git fails when a ref names a missing object, which may be fetched later.
    if (output === null) return { value: null, keep: false }
    const found = new Map(
      output
        .toString()
        .split('\n')
        .map(line => line.split(' '))
        .map(([name = '', oid = '', type = '']) => [name, { oid, type }]),
    )
    const first = names.map(name => found.get(name)).find(ref => ref !== undefined)
    if (!first) return NO_COMMIT
    if (first.type === 'commit') return { value: first.oid as CommitSha, keep: true }
    const peeled = first.type === 'tag' ? await peel(gitDir, first.oid, signal) : null
    return { value: peeled, keep: peeled !== null || first.type !== 'tag' }
  })
}

const SYMBOLIC_REF_DEPTH = 5

/** Watches the file of a ref, and those of the refs to which a symbolic ref leads. */
async function watchRef(commonDir: string, name: string, watch: Watch): Promise<void> {
  let current = name
  for (let depth = 0; depth <= SYMBOLIC_REF_DEPTH; depth++) {
    const path = join(commonDir, current)
    watch(path)
    const next = (await lstat(path).catch(ifAbsent))?.isFile()
      ? /^ref:[ \t]*(refs\/[^ \t\n\r]+)/.exec((await readSmallFile(path)) ?? '')?.[1]
      : null
    if (!next || !isRefName(next)) return
    current = next
  }
}

/** Peels a tag, or a tag of a tag, to its commit; returns a commit as it is. */
async function peel(gitDir: string, oid: string, signal: AbortSignal): Promise<CommitSha | null> {
  const output = await runGit(['cat-file', '--batch-check'], { gitDir, signal, input: `${oid}^{commit}\n` }).catch(ifAnswered)
  return (/^([0-9a-f]{40}) commit /.exec(output?.toString() ?? '')?.[1] ?? null) as CommitSha | null
}

/**
 * A commit given by its hash counts only if a branch, a tag or HEAD leads to it: other objects were never published.
 * The result is cached as long as the repository is the same.
 */
async function findPinnedCommit(place: Place, oid: string, signal: AbortSignal): Promise<Computed<CommitSha | null>> {
  return withView(place.commonDir, async gitDir => {
    if ((await peel(gitDir, oid, signal)) !== oid) return { value: null, keep: false }
    const head = await readHead(place.gitDir)
    const tips = ['--branches', '--tags', ...(head && 'commit' in head ? [head.commit] : [])]
    const unpublished = await runGit(['rev-list', '--max-count=1', oid, '--not', ...tips], { gitDir, signal }).catch(ifAnswered)
    // rev-list walks by date and may stop early after wrong clocks. The second command is slower and exact.
    const published = unpublished?.length === 0 || (await isContainedInRef(gitDir, oid, signal))
    return { value: published ? (oid as CommitSha) : null, keep: published }
  })
}

async function isContainedInRef(gitDir: string, oid: string, signal: AbortSignal): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${oid}`, 'refs/heads', 'refs/tags']
  const output = await runGit(args, { gitDir, signal }).catch(ifAnswered)
  return output !== null && output.length > 0
}

/** For `catch`: `null` when git ended with a status, which means no. */
function ifAnswered(error: unknown): null {
  if (error instanceof GitError && error.status !== null) return null
  throw error
}
