import { createHash } from 'node:crypto'
import { ByteSource, EndOfBytes } from './byte-source.ts'
import { type GitEnd, type GitOptions, type GitProcess, startGit } from './process.ts'

/** A running `git cat-file` that answers about one object after another. */
export interface ObjectBatch {
  /** Type and size of the objects, in the order asked for; `null` for a missing or unreadable one. */
  info(oids: readonly string[]): AsyncGenerator<ObjectInfo | null>
  /** Bytes of blobs of known size, in the order asked for; `null` for a missing one, and for bytes whose hash is not the id. */
  blobs(blobs: readonly { oid: string; sizeBytes: number }[]): AsyncGenerator<Uint8Array | null>
  close(): Promise<void>
}

export interface ObjectInfo {
  type: string
  sizeBytes: number
}

/** Git crashed at so many objects that the repository counts as unreadable. */
export class TooManyCrashes extends Error {
  constructor(end: GitEnd) {
    super(`git cat-file crashed more than ${CRASHES} times: ${end.message}`)
    this.name = 'TooManyCrashes'
  }
}

const CRASHES = 64

/** Opens a batch; the first question starts git. An object at which git crashes counts as unreadable: git restarts after it. */
export function openObjectBatch(options: GitOptions): ObjectBatch {
  return new GitObjectBatch(options)
}

interface Running {
  git: GitProcess
  source: ByteSource
}

class GitObjectBatch implements ObjectBatch {
  readonly #options: GitOptions
  #running: Running | null = null
  #crashes = 0

  constructor(options: GitOptions) {
    this.#options = options
  }

  info(oids: readonly string[]): AsyncGenerator<ObjectInfo | null> {
    const wanted = oids.map(oid => ({ oid }))
    return this.#ask('info', wanted, takeInfo)
  }

  blobs(blobs: readonly { oid: string; sizeBytes: number }[]): AsyncGenerator<Uint8Array | null> {
    return this.#ask('contents', blobs, takeBlob)
  }

  async close(): Promise<void> {
    const { git } = this.#running ?? {}
    this.#running = null
    await git?.stop()
  }

  async *#ask<Wanted extends { oid: string }, Value>(
    verb: 'info' | 'contents',
    wanted: readonly Wanted[],
    take: (source: ByteSource, wanted: Wanted) => Promise<Value | null>,
  ): AsyncGenerator<Value | null> {
    let isComplete = false
    let isSingle = false // after a crash one object at a time, which shows the object at which git crashes
    try {
      for (let answered = 0; answered < wanted.length; ) {
        this.#running ??= this.#start()
        const running = this.#running
        const group = wanted.slice(answered, isSingle ? answered + 1 : undefined)
        running.git.input.write(`${group.map(({ oid }) => `${verb} ${oid}\n`).join('')}flush\n`)
        try {
          for (const one of group) {
            const value = await take(running.source, one)
            answered++
            yield value
          }
          isSingle = false
        } catch (error) {
          if (!(error instanceof EndOfBytes)) throw error
          await this.#noteCrash(running)
          if (isSingle) {
            answered++
            yield null
          }
          isSingle = !isSingle
        }
      }
      isComplete = true
    } finally {
      if (!isComplete) await this.close()
    }
  }

  #start(): Running {
    const git = startGit(['cat-file', '--batch-command', '--buffer'], this.#options)
    return { git, source: new ByteSource(git.output) }
  }

  /** @throws TooManyCrashes, or the reason of the signal that killed git */
  async #noteCrash({ git }: Running): Promise<void> {
    this.#running = null
    const end = await git.ended
    this.#options.signal?.throwIfAborted()
    if (++this.#crashes > CRASHES) throw new TooManyCrashes(end)
  }
}

async function takeInfo(source: ByteSource): Promise<ObjectInfo | null> {
  const [, type = '', size] = (await source.line()).split(' ')
  return size === undefined ? null : { type, sizeBytes: Number(size) }
}

async function takeBlob(source: ByteSource, wanted: { oid: string; sizeBytes: number }): Promise<Uint8Array | null> {
  const info = await takeInfo(source)
  if (info === null) return null
  if (info.sizeBytes !== wanted.sizeBytes)
    throw new Error(`object ${wanted.oid} has ${info.sizeBytes} bytes instead of ${wanted.sizeBytes}`)
  const bytes = await source.bytes(info.sizeBytes)
  await source.bytes(1)
  return blobId(bytes) === wanted.oid ? bytes : null
}

function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
