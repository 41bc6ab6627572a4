import { GitError, type GitResources, startGit } from './process.ts'
import { type RemoteOptions, receivePack, type WantedPack } from './upload-pack.ts'

export interface FetchOptions extends RemoteOptions {
  /** A scratch repository of our own. */
  gitDir: string
  /** What git may take of this machine. Default: two minutes of a processor, half a GiB of disk. */
  resources?: GitResources
}

/** The repository asks for more than any reading may take of this machine. */
export class FetchTooLarge extends Error {
  constructor(cause: unknown) {
    super('the repository takes more of this machine than a reading may', { cause })
    this.name = 'FetchTooLarge'
  }
}

/** Fetches a commit and its trees, and no blob. @throws GitError, FetchTooLarge, or what `receivePack` throws */
export async function fetchTrees(options: FetchOptions, commit: string): Promise<void> {
  await fetchPack(options, { wants: [commit], depth: 1, filter: 'blob:none' })
}

/**
 * Fetches blobs by their ids in one request. Those that the host does not have are left out, as long as they are few.
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

/** Fetches every blob of the commit that is at most so large. @throws as `fetchTrees` */
export async function fetchSmallBlobs(options: FetchOptions, commit: string, maxBytes: number): Promise<void> {
  await fetchPack(options, { wants: [commit], depth: 1, filter: `blob:limit=${maxBytes + 1}` })
}

/** Fetches a commit alone, without its tree. @throws as `fetchTrees` */
export async function fetchCommit(options: FetchOptions, commit: string): Promise<void> {
  await fetchPack(options, { wants: [commit], filter: 'tree:0', depth: 1 })
}

/**
 * Fetches the commits behind the tips, without trees.
 *
 * @param haves commits behind which everything is at hand. The host leaves it out as far as it knows them
 * @throws as `fetchTrees`
 */
export async function fetchCommits(options: FetchOptions, tips: readonly string[], haves: readonly string[]): Promise<void> {
  await fetchPack(options, { wants: tips, haves, filter: 'tree:0' })
}

/** The pack goes from the host through our hands into a git that knows no network, no address and no token. */
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
  if (wasLimited) throw new FetchTooLarge(ending)
  // Where git ended before it had taken everything, it says why.
  if (failure && !isBrokenPipe(failure.error)) throw failure.error
  if (end.status !== 0) throw ending
}

const RESOURCES: GitResources = { cpuSeconds: 120, fileBytes: 512 * 1024 * 1024 }
/** EFBIG, where the signal of the limit is not heeded. */
const FILE_TOO_LARGE = /File too large/

function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes((error as NodeJS.ErrnoException).code ?? '')
}
