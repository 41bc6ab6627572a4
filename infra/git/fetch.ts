import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError, type GitResources, runGit, startGit } from './process.ts'
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

/** Whether the host gives out a commit under this id. @throws as `fetchTrees` */
export async function isCommit(options: FetchOptions, oid: string): Promise<boolean> {
  await fetchPack(options, { wants: [oid], filter: 'tree:0', depth: 1 })
  return (await commitsAmong([oid], options)).length > 0
}

/** Fetches the commits behind the tips, without trees, and tells whether one leads to this one. @throws as `fetchTrees` */
export async function isInHistory(options: FetchOptions, commit: string, tips: Iterable<string>): Promise<boolean> {
  const { gitDir, signal } = options
  const oids = [...new Set(tips)]
  if (oids.length === 0) return false
  await fetchPack(options, { wants: oids, filter: 'tree:0' })
  const commits = await commitsAmong([commit, ...oids], options)
  if (commits[0] !== commit) return false
  // Under names of our own: those of the host decide nothing here. In one file, since there may be a hundred thousand.
  const refs = commits.slice(1).map((oid, index) => `${oid} refs/heads/${`${index}`.padStart(7, '0')}\n`)
  await writeFile(join(gitDir, 'packed-refs'), refs.join(''))
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`, 'refs/heads']
  return (await runGit(args, { gitDir, signal })).length > 0
}

const LISTED_BYTES = 64 * 1024 * 1024

/** Those of the objects that are commits and at hand. */
async function commitsAmong(oids: readonly string[], { gitDir, signal }: FetchOptions): Promise<string[]> {
  const input = oids.map(oid => `${oid}\n`).join('')
  const output = await runGit(['cat-file', '--batch-check'], { gitDir, signal, input, maxOutputBytes: LISTED_BYTES })
  return output
    .toString()
    .split('\n')
    .flatMap(line => /^([0-9a-f]{40}) commit /.exec(line)?.[1] ?? [])
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
