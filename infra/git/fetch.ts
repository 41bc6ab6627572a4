import type { GitPermissions } from './environment.ts'
import { GitError, runGit } from './process.ts'

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
}

/** The repository asks for more than any reading may take of this machine. */
export class FetchTooLarge extends Error {
  constructor(cause: unknown) {
    super('the repository takes more of this machine than a reading may', { cause })
    this.name = 'FetchTooLarge'
  }
}

/** Fetches a commit and its trees, and no blob. @throws GitError, FetchTooLarge */
export async function fetchTrees({ gitDir, remote, signal }: FetchOptions, commit: string): Promise<void> {
  await fetch(['--depth=1', '--filter=blob:none', 'origin', commit], { gitDir, remote, signal })
}

/**
 * Fetches blobs by their ids in one request. Those that the host does not have are left out, as long as they are few.
 *
 * @throws GitError, FetchTooLarge
 */
export async function fetchBlobs({ gitDir, remote, signal }: FetchOptions, oids: readonly string[]): Promise<void> {
  const wanted = new Set(oids)
  for (let absent = 0; wanted.size > 0; absent++) {
    try {
      // Nothing is had in common: without this, git would offer the commit for every blob.
      const config = { 'fetch.negotiationAlgorithm': 'noop' }
      await fetch(['--filter=blob:none', 'origin', '--stdin'], { gitDir, remote, signal }, config, `${[...wanted].join('\n')}\n`)
      return
    } catch (error) {
      const oid = /not our ref ([0-9a-f]{40})/.exec((error as Error).message)?.[1]
      if (oid === undefined || absent === ABSENT_BLOBS || !wanted.delete(oid)) throw error
    }
  }
}

const ABSENT_BLOBS = 8

/** Fetches every blob of the commit that is at most so large. @throws GitError, FetchTooLarge */
export async function fetchSmallBlobs({ gitDir, remote, signal }: FetchOptions, commit: string, maxBytes: number): Promise<void> {
  await fetch(['--refetch', '--depth=1', `--filter=blob:limit=${maxBytes + 1}`, 'origin', commit], { gitDir, remote, signal })
}

/** Whether a branch or tag of the repository points at the commit, as the host tells without a fetch. @throws GitError */
export async function isTip({ gitDir, remote, signal }: FetchOptions, commit: string): Promise<boolean> {
  const args = ['ls-remote', '--heads', '--tags', '--end-of-options', 'origin']
  const output = await runGit(args, { gitDir, signal, maxOutputBytes: TIPS_BYTES, ...permissions(remote) })
  return output.includes(`${commit}\t`)
}

const TIPS_BYTES = 64 * 1024 * 1024

/** Fetches the commits behind every branch and tag, without trees, and tells whether one leads to this one. @throws GitError, FetchTooLarge */
export async function isInHistory({ gitDir, remote, signal }: FetchOptions, commit: string): Promise<boolean> {
  await fetch(['--filter=tree:0', 'origin', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'], { gitDir, remote, signal })
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`, 'refs/heads', 'refs/tags']
  const found = await runGit(args, { gitDir, signal }).catch(error => {
    // git that ends with a status has answered: it has no such commit.
    if (error instanceof GitError && error.status !== null) return null
    throw error
  })
  return found !== null && found.length > 0
}

async function fetch(
  args: readonly string[],
  { gitDir, remote, signal }: FetchOptions,
  config: Readonly<Record<string, string>> = {},
  input = '',
): Promise<void> {
  const allowed = permissions(remote, config)
  try {
    await runGit(['fetch', ...QUIETLY, ...args], { gitDir, signal, input, ...allowed })
  } catch (error) {
    if (error instanceof GitError && OVER_LIMIT.test(error.message)) throw new FetchTooLarge(error)
    throw error
  }
}

const QUIETLY = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance']

/** What git says of a process that met one of its limits: SIGXCPU, SIGXFSZ, EFBIG. */
const OVER_LIMIT = /died of signal 2[45]|File too large|File size limit|CPU time limit/i
const RESOURCES = { cpuSeconds: 120, fileBytes: 512 * 1024 * 1024 }

function permissions({ url, authorization }: Remote, config: Readonly<Record<string, string>> = {}): GitPermissions {
  const { protocol, origin } = new URL(url)
  return {
    protocols: [protocol.slice(0, -1)],
    resources: RESOURCES,
    config: {
      ...SETTINGS,
      ...config,
      'remote.origin.url': url,
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
  'fetch.fsckObjects': 'true',
  // Whatever can stand in a tree is read or left out by name; git's warnings about it are no reason to refuse the rest.
  ...Object.fromEntries(
    [
      'badTimezone',
      'duplicateEntries',
      'emptyName',
      'fullPathname',
      'gitattributesBlob',
      'gitattributesLarge',
      'gitattributesLineLength',
      'gitattributesMissing',
      'gitmodulesBlob',
      'gitmodulesLarge',
      'gitmodulesMissing',
      'gitmodulesName',
      'gitmodulesParse',
      'gitmodulesPath',
      'gitmodulesSymlink',
      'gitmodulesUpdate',
      'gitmodulesUrl',
      'hasDot',
      'hasDotdot',
      'hasDotgit',
      'missingSpaceBeforeDate',
      'missingSpaceBeforeEmail',
      'nullSha1',
      'treeNotSorted',
      'zeroPaddedDate',
      'zeroPaddedFilemode',
    ].map(name => [`fetch.fsck.${name}`, 'ignore']),
  ),
}
