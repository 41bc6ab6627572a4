import type { CommitSha } from '#core/commit-sha.ts'
import { ReadError } from '#core/ports/git-host.ts'
import { parseRepoPath, ROOT } from '#core/repo-path.ts'
import { type GitProcess, runGit, startGit } from './process.ts'
import type { GitView } from './view.ts'

/** One file of a commit. */
export interface RawFile {
  oid: string
  sizeBytes: number
  /** Read lazily, and only once. @throws ReadError when the file cannot be read to the end */
  bytes: AsyncGenerator<Uint8Array>
}

export interface RawFileOptions {
  /** Opens the place from which git reads; `null` when the repository cannot be read. */
  openView: () => Promise<GitView | null>
  commit: CommitSha
  path: string
  /** Aborts the search for the file. */
  searching: AbortSignal
  /** Aborts the reading of its bytes. */
  reading: AbortSignal
}

/** The file or link at a path of a commit; `null` when there is none. @throws GitError */
export async function openRawFile({ openView, commit, path, searching, reading }: RawFileOptions): Promise<RawFile | null> {
  if ((parseRepoPath(path) ?? ROOT) === ROOT) return null
  const view = await openView()
  if (view === null) return null
  try {
    const found = await findBlob(view.gitDir, commit, path, searching)
    return found && { ...found, bytes: streamBlob(openView, found.oid, found.sizeBytes, reading) }
  } finally {
    await view.remove()
  }
}

async function findBlob(
  gitDir: string,
  commit: CommitSha,
  path: string,
  signal: AbortSignal,
): Promise<Pick<RawFile, 'oid' | 'sizeBytes'> | null> {
  const args = ['ls-tree', '-l', '-z', '--full-tree', '--end-of-options', commit, path]
  const output = (await runGit(args, { gitDir, signal })).toString()
  for (const line of output.split('\0')) {
    const [, oid, size, name] = /^\d{6} blob ([0-9a-f]{40}) +(\d+)\t(.*)$/s.exec(line) ?? []
    if (oid && name === path) return { oid, sizeBytes: Number(size) }
  }
  return null
}

async function* streamBlob(
  openView: RawFileOptions['openView'],
  oid: string,
  sizeBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const view = await openView()
  if (view === null) throw new ReadError('index.fetch_failed', 'the repository cannot be read now')
  let git: GitProcess | null = null
  try {
    git = startGit(['cat-file', 'blob', oid], { gitDir: view.gitDir, signal })
    git.input.end()
    let read = 0
    for await (const chunk of git.output as AsyncIterable<Buffer>) {
      read += chunk.length
      yield chunk
    }
    const end = await git.ended
    if (end.status !== 0 || read !== sizeBytes) {
      const message = `the file ended after ${read} of ${sizeBytes} bytes`
      throw new ReadError('index.fetch_failed', message, { cause: new Error(end.message) })
    }
  } finally {
    await git?.stop()
    await view.remove()
  }
}
