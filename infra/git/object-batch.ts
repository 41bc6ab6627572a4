import { createHash } from 'node:crypto'
import { ByteSource, EndOfBytes } from './byte-source.ts'
import { type GitEnd, type GitOptions, type GitProcess, startGit } from './process.ts'

/** One `git cat-file` that answers about one object after another. */
export interface ObjectBatch {
  /** The type and size of objects; `null` where there is none. */
  info(oids: readonly string[]): AsyncGenerator<ObjectInfo | null>
  /** The bytes of blobs whose size is known; `null` where they are not what their id says. */
  blobs(blobs: readonly { oid: string; sizeBytes: number }[]): AsyncGenerator<Uint8Array | null>
  close(): Promise<void>
}

export interface ObjectInfo {
  type: string
  sizeBytes: number
}

/** git died at so many objects that the repository is no use. */
export class TooManyCrashes extends Error {
  constructor(end: GitEnd) {
    super(`git cat-file ended again and again: ${end.message}`)
    this.name = 'TooManyCrashes'
  }
}

const CRASHES = 64

/** git ends at an object that it cannot unpack. That object counts as unreadable, and git is started again behind it. */
export function openObjectBatch(options: GitOptions): ObjectBatch {
  let running: { git: GitProcess; source: ByteSource } | null = null
  let crashes = 0

  const start = () => {
    const git = startGit(['cat-file', '--batch-command', '--buffer'], options)
    return { git, source: new ByteSource(git.output) }
  }

  async function close() {
    const { git } = running ?? {}
    running = null
    await git?.stop()
  }

  async function* ask<Wanted extends { oid: string }, Value>(
    verb: 'info' | 'contents',
    wanted: readonly Wanted[],
    take: (source: ByteSource, wanted: Wanted) => Promise<Value | null>,
  ): AsyncGenerator<Value | null> {
    let whole = false
    let alone = false // after a crash one object a time, which shows where git dies
    try {
      for (let asked = 0; asked < wanted.length; ) {
        running ??= start()
        const { git, source } = running
        const group = wanted.slice(asked, alone ? asked + 1 : undefined)
        git.input.write(`${group.map(({ oid }) => `${verb} ${oid}\n`).join('')}flush\n`)
        try {
          for (const one of group) {
            const value = await take(source, one)
            asked++
            yield value
          }
          alone = false
        } catch (error) {
          if (!(error instanceof EndOfBytes)) throw error
          running = null
          const end = await git.ended
          options.signal?.throwIfAborted()
          if (++crashes > CRASHES) throw new TooManyCrashes(end)
          if (alone) {
            asked++
            yield null
          }
          alone = !alone
        }
      }
      whole = true
    } finally {
      if (!whole) await close()
    }
  }

  return {
    close,
    info: oids =>
      ask(
        'info',
        oids.map(oid => ({ oid })),
        takeInfo,
      ),
    blobs: blobs => ask('contents', blobs, takeBlob),
  }
}

async function takeInfo(source: ByteSource): Promise<ObjectInfo | null> {
  const [, type = '', size] = (await source.line()).split(' ')
  return size === undefined ? null : { type, sizeBytes: Number(size) }
}

async function takeBlob(source: ByteSource, wanted: { oid: string; sizeBytes: number }): Promise<Uint8Array | null> {
  const info = await takeInfo(source)
  if (info === null) return null
  if (info.sizeBytes !== wanted.sizeBytes) throw new Error('an object changed while it was read')
  const bytes = await source.bytes(info.sizeBytes)
  await source.bytes(1)
  return blobId(bytes) === wanted.oid ? bytes : null
}

function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
