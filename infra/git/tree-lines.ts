import { isUtf8 } from 'node:buffer'
import type { ReadLimits, TreeEntry } from '#core/ports/git-host.ts'
import { GitError, startGit } from './process.ts'

/** A file or submodule, as git lists it. */
export interface TreeLine {
  type: string
  depth: number
  path: string | null
  mode: TreeEntry['mode']
  oid: string
}

export interface ListOptions {
  gitDir: string
  tree: string
  limits: Pick<ReadLimits, 'treeEntries' | 'treeDepthSegments'>
  signal: AbortSignal
}

/** Longest line. Only a hostile tree has longer paths. */
const LINE_BYTES = 16 * 1024
/** Bounds the whole listing: with long names in deep folders, few entries take many bytes. */
const LISTED_BYTES_PER_ENTRY = 256
const LISTED_BYTES = 1024 * 1024

/**
 * The files and submodules of the tree, in batches.
 *
 * @param onCut called when the tree exceeds the limits; the listing is then incomplete
 * @throws GitError
 */
export async function* listTree({ gitDir, tree, limits, signal }: ListOptions, onCut: () => void): AsyncGenerator<TreeLine[]> {
  const git = startGit(['ls-tree', '-r', '-t', '-z', '--full-tree', '--end-of-options', tree], { gitDir, signal })
  git.input.end()
  const listableBytes = Math.max(LISTED_BYTES, limits.treeEntries * LISTED_BYTES_PER_ENTRY)
  const count = { files: 0, folders: 0, bytes: 0 }
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of git.output as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const lines: TreeLine[] = []
      let start = 0
      let isOver = false
      for (let end = bytes.indexOf(0); end >= 0 && !isOver; end = bytes.indexOf(0, start)) {
        const line = parseLine(bytes.subarray(start, end))
        start = end + 1
        isOver = (line.type === 'tree' ? ++count.folders : ++count.files) > limits.treeEntries
        if (line.depth > limits.treeDepthSegments) onCut()
        else if (line.type !== 'tree' && !isOver) lines.push(line)
      }
      rest = bytes.subarray(start)
      count.bytes += chunk.length
      yield lines
      if (isOver || rest.length > LINE_BYTES || count.bytes > listableBytes) {
        onCut()
        return
      }
    }
    const end = await git.ended
    signal.throwIfAborted()
    if (end.status !== 0) throw new GitError('ls-tree', end)
  } finally {
    await git.stop()
  }
}

/** `<mode> <type> <oid>\t<path>` */
function parseLine(line: Buffer): TreeLine {
  const tab = line.indexOf(0x09)
  const [mode = '', type = '', oid = ''] = line.toString('latin1', 0, tab).split(' ')
  const name = line.subarray(tab + 1)
  return {
    type,
    depth: countSegments(name),
    path: isUtf8(name) ? name.toString() : null,
    mode: mode as TreeEntry['mode'],
    oid,
  }
}

function countSegments(path: Uint8Array): number {
  let segments = 1
  for (let slash = path.indexOf(0x2f); slash >= 0; slash = path.indexOf(0x2f, slash + 1)) segments++
  return segments
}
