import { GitError, type GitResources, startGit } from './process.ts'
import { PackTooLong, type RemoteOptions, receivePack, type WantedPack } from './upload-pack.ts'

export interface FetchOptions extends RemoteOptions {
  /** A scratch repository of this process. */
  gitDir: string
  /** Limits of the git process. Default: 120 seconds of processor time, 512 MiB on disk. */
  resources?: GitResources
}

/** The fetch exceeded a resource limit. */
export class FetchTooLarge extends Error {
  constructor({ cpuSeconds, fileBytes }: GitResources, cause: unknown) {
    const limits = `${cpuSeconds} seconds of processor time and ${Math.ceil(fileBytes / 1024)} KiB on disk`
    super(`the repository is too large to fetch: the limits are ${limits}`, { cause })
    this.name = 'FetchTooLarge'
  }
}

/** Fetches a commit and its trees, without blobs. @throws GitError, FetchTooLarge, or what `receivePack` throws */
export async function fetchTrees(options: FetchOptions, commit: string): Promise<void> {
  await fetchPack(options, { wants: [commit], depth: 1, filter: 'blob:none' })
}

/**
 * Fetches blobs by their ids in one request. Skips up to `ABSENT_BLOBS` that the host does not have, each at the cost of another request.
 *
 * @throws as `fetchTrees`
 */
export async function fetchBlobs(options: FetchOptions, oids: readonly string[]): Promise<void> {
  const wanted = new Set(oids)
  for (let absent = 0; wanted.size > 0; absent++) {
    try {
      await fetchPack(options, { wants: [...wanted] })
      return
    } catch (error) {
      const oid = /not our ref ([0-9a-f]{40})/.exec((error as Error).message)?.[1]
      if (oid === undefined || absent === ABSENT_BLOBS || !wanted.delete(oid)) throw error
    }
  }
}

const ABSENT_BLOBS = 8

/** Fetches a commit with its trees and every blob of at most `maxBytes`. @throws as `fetchTrees` */
export async function fetchSmallBlobs(options: FetchOptions, commit: string, maxBytes: number): Promise<void> {
  await fetchPack(options, withSmallBlobs(commit, maxBytes))
}

/**
 * Like `fetchSmallBlobs`, unless that takes more than `packBytes`. The host is heard no longer than that.
 *
 * @returns whether the repository has the objects
 */
export async function fetchIfSmall(
  options: FetchOptions,
  commit: string,
  { maxBytes, packBytes }: { maxBytes: number; packBytes: number },
): Promise<boolean> {
  try {
    await fetchPack(options, { ...withSmallBlobs(commit, maxBytes), maxBytes: packBytes })
    return true
  } catch (error) {
    if (error instanceof PackTooLong) return false
    throw error
  }
}

function withSmallBlobs(commit: string, maxBytes: number): WantedPack {
  return { wants: [commit], depth: 1, filter: `blob:limit=${maxBytes + 1}` }
}

/** Fetches a commit alone, without its tree. @throws as `fetchTrees` */
export async function fetchCommit(options: FetchOptions, commit: string): Promise<void> {
  await fetchPack(options, { wants: [commit], filter: 'tree:0', depth: 1 })
}

/**
 * Fetches the tips and the commits in their history, without trees.
 *
 * @param haves commits whose history this repository has. The host omits their history from the pack if it knows them
 * @throws as `fetchTrees`
 */
export async function fetchCommits(options: FetchOptions, tips: readonly string[], haves: readonly string[]): Promise<void> {
  await fetchPack(options, { wants: tips, haves, filter: 'tree:0' })
}

/** Streams a pack from the host into a git process, which has no network and learns neither the address nor the token. */
async function fetchPack(options: FetchOptions, wanted: WantedPack): Promise<void> {
  const { gitDir, signal, resources = RESOURCES } = options
  const git = startGit(['index-pack', '--stdin'], { gitDir, signal, resources })
  git.output.resume()
  const failure = await receivePack(options, wanted, git.input).then(
    () => null,
    (error: unknown) => ({ error }),
  )
  if (failure) git.input.destroy()
  const end = await git.ended
  signal.throwIfAborted()
  const wasLimited = end.signal !== null || FILE_TOO_LARGE.test(end.message)
  const ending = new GitError('index-pack', end)
  if (wasLimited) throw new FetchTooLarge(resources, ending)
  // After a broken pipe, git itself says why it ended early.
  if (failure && !isBrokenPipe(failure.error)) throw failure.error
  if (end.status !== 0) throw ending
}

const RESOURCES: GitResources = { cpuSeconds: 120, fileBytes: 512 * 1024 * 1024 }
/** EFBIG, where SIGXFSZ is ignored. */
const FILE_TOO_LARGE = /File too large/

function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes((error as NodeJS.ErrnoException).code ?? '')
}
