import type { GitResources } from './environment.ts'
import { GitError, type GitOptions, runGit } from './process.ts'

/** A repository of another machine, as git reaches it. */
export interface Remote {
  /** `https`, or `http` for a host on this machine. */
  url: string
  /** Value of the header `authorization`; `null` for nobody. */
  authorization: string | null
}

export interface FetchOptions {
  /** A scratch repository of our own. */
  gitDir: string
  remote: Remote
  signal: AbortSignal
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

/** Fetches a commit and its trees, and no blob. @throws GitError, FetchTooLarge */
export async function fetchTrees(options: FetchOptions, commit: string): Promise<void> {
  await fetch(['--depth=1', '--filter=blob:none', 'origin', commit], options)
}

/**
 * Fetches blobs by their ids in one request. Those that the host does not have are left out, as long as they are few.
 *
 * @throws GitError, FetchTooLarge
 */
export async function fetchBlobs(options: FetchOptions, oids: readonly string[]): Promise<void> {
  const wanted = new Set(oids)
  for (let absent = 0; wanted.size > 0; absent++) {
    try {
      // Nothing is had in common: without this, git would offer the commit for every blob.
      const config = { 'fetch.negotiationAlgorithm': 'noop' }
      await fetch(['--filter=blob:none', 'origin', '--stdin'], options, config, `${[...wanted].join('\n')}\n`)
      return
    } catch (error) {
      const oid = /not our ref ([0-9a-f]{40})/.exec((error as Error).message)?.[1]
      if (oid === undefined || absent === ABSENT_BLOBS || !wanted.delete(oid)) throw error
    }
  }
}

const ABSENT_BLOBS = 8

/** Fetches every blob of the commit that is at most so large. @throws GitError, FetchTooLarge */
export async function fetchSmallBlobs(options: FetchOptions, commit: string, maxBytes: number): Promise<void> {
  await fetch(['--refetch', '--depth=1', `--filter=blob:limit=${maxBytes + 1}`, 'origin', commit], options)
}

/** A branch or tag of the host, with what it points at: of an annotated tag, what lies behind it. */
export interface Tip {
  ref: string
  oid: string
}

/** Branches and tags, as the host tells them without a fetch. @throws GitError */
export async function listTips(options: FetchOptions): Promise<Tip[]> {
  const args = ['ls-remote', '--heads', '--tags', '--end-of-options', 'origin']
  const output = await runGit(args, { ...started(options), maxOutputBytes: TIPS_BYTES })
  const tips = new Map<string, string>()
  for (const line of output.toString().split('\n')) {
    const [, oid, ref] = /^([0-9a-f]{40})\t(refs\/.+?)(?:\^\{\})?$/.exec(line) ?? []
    if (oid && ref) tips.set(ref, oid)
  }
  return [...tips].map(([ref, oid]) => ({ ref, oid }))
}

const TIPS_BYTES = 64 * 1024 * 1024

/** Whether the host gives out a commit under this id. @throws GitError, FetchTooLarge */
export async function isCommit(options: FetchOptions, oid: string): Promise<boolean> {
  await fetch(['--depth=1', '--filter=tree:0', 'origin', oid], options).catch(ifNotAll)
  return (await commitsAmong([oid], options)).length > 0
}

/** Fetches the commits behind the tips, without trees, and tells whether one leads to this one. @throws GitError, FetchTooLarge */
export async function isInHistory(options: FetchOptions, commit: string, tips: readonly Tip[]): Promise<boolean> {
  const { gitDir, signal } = options
  const refspecs = ['+refs/heads/*:refs/fetched/heads/*', '+refs/tags/*:refs/fetched/tags/*']
  await fetch(['--filter=tree:0', 'origin', ...refspecs], options).catch(ifNotAll)
  const oids = [...new Set(tips.map(({ oid }) => oid))]
  const commits = await commitsAmong([commit, ...oids], options)
  if (commits[0] !== commit) return false
  // Under names of our own: those of the host decide nothing here.
  const input = commits.map((oid, index) => (index === 0 ? '' : `create refs/heads/${index} ${oid}\n`)).join('')
  await runGit(['update-ref', '--stdin'], { gitDir, signal, input })
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`, 'refs/heads']
  return (await runGit(args, { gitDir, signal })).length > 0
}

/** Those of the objects that are commits and at hand. */
async function commitsAmong(oids: readonly string[], { gitDir, signal }: FetchOptions): Promise<string[]> {
  const input = oids.map(oid => `${oid}\n`).join('')
  const output = await runGit(['cat-file', '--batch-check'], { gitDir, signal, input, maxOutputBytes: TIPS_BYTES })
  return output
    .toString()
    .split('\n')
    .flatMap(line => /^([0-9a-f]{40}) commit /.exec(line)?.[1] ?? [])
}

/** Some versions of git think that a tree or blob which a tag points at was left out. What was sent is there all the same. */
function ifNotAll(error: unknown): void {
  if (!(error instanceof GitError && error.message.includes('did not send all necessary objects'))) throw error
}

async function fetch(
  args: readonly string[],
  options: FetchOptions,
  config: Readonly<Record<string, string>> = {},
  input = '',
): Promise<void> {
  try {
    await runGit(['fetch', ...QUIETLY, ...args], { ...started(options, config), input })
  } catch (error) {
    if (error instanceof GitError && OVER_LIMIT.test(error.message)) throw new FetchTooLarge(error)
    throw error
  }
}

const QUIETLY = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance']

/**
 * What git says of a process that met one of its limits: SIGKILL, SIGXCPU, SIGXFSZ, EFBIG. The one that writes the pack is only missed:
 * whatever else ends it gives a reason of its own first.
 */
const OVER_LIMIT = /died of signal (?:9|24|25)|File too large|status 128: fatal: fetch-pack: invalid index-pack output$/
const RESOURCES = { cpuSeconds: 120, fileBytes: 512 * 1024 * 1024 }

function started(
  { gitDir, remote, signal, resources = RESOURCES }: FetchOptions,
  config: Readonly<Record<string, string>> = {},
): GitOptions {
  const { protocol, origin } = new URL(remote.url)
  const { authorization } = remote
  return {
    gitDir,
    signal,
    resources,
    protocols: [protocol.slice(0, -1)],
    config: {
      ...SETTINGS,
      ...config,
      'remote.origin.url': remote.url,
      ...(authorization === null ? {} : { [`http.${origin}/.extraHeader`]: `Authorization: ${authorization}` }),
    },
  }
}

const SETTINGS: Readonly<Record<string, string>> = {
  'protocol.version': '2',
  // Known as partial from the start, so that git writes no settings of its own.
  'remote.origin.promisor': 'true',
  'remote.origin.partialCloneFilter': 'blob:none',
  'http.followRedirects': 'false',
  // Thousands of ids go in one request instead of a probe and another.
  'http.postBuffer': String(64 * 1024 * 1024),
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '20',
  'transfer.bundleURI': 'false',
  'fetch.uriProtocols': '',
  'fetch.unpackLimit': '1',
  // With a filter git would refuse all that it only warns of otherwise, and old histories are full of it. What stands in a tree is looked at by name.
  'fetch.fsckObjects': 'false',
}
