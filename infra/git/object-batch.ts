import { createHash } from 'node:crypto'
import { ByteSource, EndOfBytes } from './byte-source.ts'
import { type GitEnd, type GitOptions, type GitProcess, startGit } from './process.ts'

/** A git process that answers questions about one object after another. */
export interface ObjectBatch {
  /** Type and size of the objects, as git states them, in the order asked for; `null` for a missing or unreadable one. */
  info(oids: readonly string[]): AsyncGenerator<ObjectInfo | null>
  /** The bytes of objects of one type, in the order asked for. */
  contents(type: ObjectType, wanted: readonly WantedObject[]): AsyncGenerator<ObjectBytes>
  close(): Promise<void>
}

export type ObjectType = 'commit' | 'tree' | 'blob'

export interface ObjectInfo {
  type: string
  sizeBytes: number
}

export interface WantedObject {
  oid: string
  maxBytes: number
}

/**
 * The bytes, if their hash is the id of the object. Git itself does not compare them: the index of a pack may list any object under any id.
 * `unreadable`: missing, damaged, of another type, or not the object of this id; `too_large`: more than `maxBytes`.
 */
export type ObjectBytes = Uint8Array | 'unreadable' | 'too_large'

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

interface Question<Wanted extends { oid: string }, Value> {
  verb: 'info' | 'contents'
  wanted: readonly Wanted[]
  take: (source: ByteSource, wanted: Wanted) => Promise<Value>
  /** The answer for an object at which git crashes. */
  crashed: Value
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
    return this.#ask<{ oid: string }, ObjectInfo | null>({ verb: 'info', wanted, take: takeInfo, crashed: null })
  }

  contents(type: ObjectType, wanted: readonly WantedObject[]): AsyncGenerator<ObjectBytes> {
    const take = (source: ByteSource, one: WantedObject) => takeContents(source, type, one)
    return this.#ask<WantedObject, ObjectBytes>({ verb: 'contents', wanted, take, crashed: 'unreadable' })
  }

  async close(): Promise<void> {
    const { git } = this.#running ?? {}
    this.#running = null
    await git?.stop()
  }

  async *#ask<Wanted extends { oid: string }, Value>(question: Question<Wanted, Value>): AsyncGenerator<Value> {
    const { verb, wanted, take, crashed } = question
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
            yield crashed
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

async function takeContents(source: ByteSource, type: ObjectType, { oid, maxBytes }: WantedObject): Promise<ObjectBytes> {
  const info = await takeInfo(source)
  if (info === null) return 'unreadable'
  if (info.sizeBytes > maxBytes) {
    await source.skip(info.sizeBytes + LINE_BREAK_BYTES)
    return 'too_large'
  }
  const bytes = await source.bytes(info.sizeBytes)
  await source.skip(LINE_BREAK_BYTES)
  return objectId(type, bytes) === oid ? bytes : 'unreadable'
}

const LINE_BREAK_BYTES = 1

function objectId(type: ObjectType, bytes: Uint8Array): string {
  return createObjectHash(type, bytes.length).update(bytes).digest('hex')
}

/** The hash of an object, to be fed with its bytes. The digest is the id. */
export function createObjectHash(type: ObjectType, sizeBytes: number) {
  return createHash('sha1').update(`${type} ${sizeBytes}\0`)
}
