import { nextSlot } from '#core/concurrency/fair-gate.ts'
import { type ByteRange, RawFileError } from '#core/ports/raw-file.ts'
import { createObjectHash } from './object-batch.ts'
import { type GitOptions, type GitProcess, startGit } from './process.ts'
import type { GitView } from './view.ts'

export interface BlobStreamOptions {
  /** Identifies the reader. Clients take turns. */
  client: string
  /** `null` when the repository cannot be read now. The view is removed once. */
  openView: () => Promise<GitView | null>
  /** Ends the stream: kills git at once, and removes the view. */
  signal: AbortSignal
}

interface Blob {
  oid: string
  sizeBytes: number
}

/** A file may be stored as a change of another one: git then holds both. It reads others in pieces. */
const LIMITS: Pick<GitOptions, 'resources' | 'config'> = {
  resources: { cpuSeconds: 120, fileBytes: 0, memoryBytes: 768 * 1024 * 1024 },
  config: { 'core.bigFileThreshold': '1m', 'core.deltaBaseCacheLimit': '1m' },
}

/**
 * Bytes of a large blob, compared with its id while they are read. The last piece is given only when all bytes were read and are right, so
 * a range takes as long as the whole blob.
 *
 * Returns once the first piece is read. A blob that is missing, or that git cannot unpack, fails here.
 *
 * @throws RawFileError, also while the bytes are read
 */
export async function openBlobStream(
  options: BlobStreamOptions,
  blob: Blob,
  range: ByteRange,
): Promise<AsyncIterable<Uint8Array>> {
  const pieces = readPieces(options, blob, range)
  const first = await pieces.next()
  const { signal } = options
  // If the reader leaves before it takes the first piece, this is the only place that ends the generator.
  const end = () => void pieces.return(undefined).catch(() => {})
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return resume(first, pieces, signal)
}

/** Not a generator: one that is closed before its first piece would not close the other. */
function resume(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): AsyncIterableIterator<Uint8Array> {
  let taken: IteratorResult<Uint8Array> | null = first
  const take = () => {
    const piece = taken
    taken = null
    return piece
  }
  return {
    next: async () => {
      // What the signal ended is not a whole file.
      signal.throwIfAborted()
      return take() ?? (await rest.next())
    },
    return: () => {
      take()
      return rest.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* readPieces(options: BlobStreamOptions, blob: Blob, range: ByteRange): AsyncGenerator<Uint8Array> {
  const { client, openView, signal } = options
  const view = await openView()
  if (view === null) throw new RawFileError('unavailable', 'the repository cannot be read now')
  let git: GitProcess | null = null
  try {
    await nextSlot(client, signal)
    git = startGit(['cat-file', 'blob', blob.oid], { ...LIMITS, gitDir: view.gitDir, signal })
    git.input.end()
    yield* verify(git, blob, range, options)
  } finally {
    await git?.stop()
    await view.remove()
  }
}

async function* verify(
  git: GitProcess,
  { oid, sizeBytes }: Blob,
  range: ByteRange,
  { client, signal }: BlobStreamOptions,
): AsyncGenerator<Uint8Array> {
  const hash = createObjectHash('blob', sizeBytes)
  let at = 0
  let held: Uint8Array | null = null
  for await (const chunk of git.output as AsyncIterable<Buffer>) {
    await nextSlot(client, signal)
    hash.update(chunk)
    const piece = chunk.subarray(Math.max(0, range.firstByte - at), Math.max(0, range.lastByte + 1 - at))
    at += chunk.length
    if (piece.length === 0) continue
    if (held) yield held
    held = piece
  }
  const end = await git.ended
  if (end.status !== 0 || at !== sizeBytes || hash.digest('hex') !== oid) {
    const message = `the blob ${oid} is damaged: git gave ${at} of ${sizeBytes} bytes`
    throw new RawFileError('damaged', message, { cause: new Error(end.message) })
  }
  if (held) yield held
}
