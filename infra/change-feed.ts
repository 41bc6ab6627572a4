import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'

/** Tells the other processes of a deployment what this one heard of, and hears of what they tell. */
export interface ChangeFeed<Change> {
  /** Never throws. A change that cannot be written is tried again for a minute or more; then others learn of it when their cached answers expire. */
  tell(change: Change): void
  /** Looks now. For a caller that knows that something was told. */
  look(): Promise<void>
  /** Waits for the changes that are being written. What cannot be written by then is tried once more. */
  close(): Promise<void>
}

export interface ChangeFeedOptions<Change> {
  states: StateStore
  /** Key of the entry that holds the latest changes. */
  key: string
  schema: z.ZodType<Change>
  /** Called for each change of another process, in their order. */
  onChange(change: Change): void
  /** Called when changes of other processes may have been missed: whatever was cached before may be outdated. */
  onMissed(): void
  /** Receives the order of all changes. Default: none. */
  order?: ChangeOrder<Change>
  /** After an own change was written. Default: nothing. */
  onTold?: () => void
  fallbacks?: Fallbacks
  /** Interval of the looks. Default: `LOOK_MS`. 0: only `look` looks. */
  lookMs?: number
  /** A read that takes longer is given up, so that the next look does not wait for it. Default: `READ_MS`. */
  readMs?: number
}

/** Follows the changes of all processes by their numbers, which count from 1 and are the same everywhere. */
export interface ChangeOrder<Change> {
  /** A change that was told, by this process too; at the first look also those that were told before. */
  note(change: Change, number: number, isOwn: boolean): void
  /** Changes up to this number may have been missed. */
  missed(number: number): void
  /** All changes up to this number are noted or missed. Smaller than before: the feed counts anew. `null`: the entry cannot be understood. */
  known(last: number | null): void
}

/** With the time to write a change, every process knows it within five seconds. An idle process costs a bucket 860,000 small reads a month. */
export const LOOK_MS = 3_000
const READ_MS = 2_000
/** Changes that the entry holds. A process that was away for longer takes everything that it knows for outdated. */
const KEPT = 200
/** Of the whole entry. A change that is larger is told as a missed one. */
const KEPT_BYTES = 64 * 1024
/** Others may write the same entry at the same time. */
const TRIES = 12
/** Pauses after failures of the store in a row. Beyond their sum, the cached answers of the others have expired anyway. */
const RETRY_PAUSES_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000]
/** Of all further failures in a row. */
const LONGEST_PAUSE_MS = 30_000
/** How often a change is told again: for a minute at least. */
const TOLD_AGAIN = RETRY_PAUSES_MS.length + 1

const Entry = z.object({
  /** Number of the latest change; they count from 1. */
  last: z.int().min(0),
  /** The latest changes, oldest first; the number of the last one is `last`. `change` is `null` where it was too large. */
  changes: z.array(z.object({ from: z.string(), change: z.unknown() })),
})
type Entry = z.infer<typeof Entry>

const EMPTY: Entry = { last: 0, changes: [] }

/** A feed in one small entry of the state store: writers append with compare-and-swap, every process looks at it every few seconds. */
export function openChangeFeed<Change>(options: ChangeFeedOptions<Change>): ChangeFeed<Change> {
  return new StateChangeFeed(options)
}

interface Untold<Change> {
  /** `null`: no entry will hold it, since so many came after it. Others hear of it as a missed one. */
  change: Change | null
  /** How often it could not be written. */
  failures: number
}

class StateChangeFeed<Change> implements ChangeFeed<Change> {
  readonly #options: ChangeFeedOptions<Change>
  readonly #fallbacks: Fallbacks
  readonly #name = randomUUID()
  #timer: NodeJS.Timeout | undefined
  /** Number of the latest change that is known here; `null` before the first look that succeeds. */
  #seen: number | null = null
  #hasFailed = false
  readonly #untold: Untold<Change>[] = []
  #writing: Promise<void> | null = null
  #looking: Promise<void> = Promise.resolve()
  /** The look after the running one. */
  #nextLook: Promise<void> | null = null
  readonly #closing = new AbortController()

  constructor(options: ChangeFeedOptions<Change>) {
    this.#options = options
    this.#fallbacks = options.fallbacks ?? NO_FALLBACKS
    const lookMs = options.lookMs ?? LOOK_MS
    void this.look()
    if (lookMs === 0) return
    this.#timer = setInterval(() => void this.look(), lookMs)
    this.#timer.unref()
  }

  tell(change: Change): void {
    this.#untold.push({ change, failures: 0 })
    const old = this.#untold.at(-KEPT - 1)
    if (old) old.change = null
    this.#writing ??= this.#write()
  }

  /** A running look may have read the entry before the caller's change was told. */
  look(): Promise<void> {
    this.#nextLook ??= this.#looking.then(() => {
      this.#nextLook = null
      this.#looking = this.#readNew()
      return this.#looking
    })
    return this.#nextLook
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    await Promise.all([this.#writing, this.#nextLook, this.#looking])
  }

  /** What is told while an entry is being written goes into the next one. */
  async #write(): Promise<void> {
    for (let failures = 0; this.#untold.length > 0; ) {
      // Once the feed closes, no try comes after this one.
      const isLast = this.#closing.signal.aborted
      const told = this.#untold.slice()
      const isWritten = await this.#append(told.map(({ change }) => change)).catch(error => {
        this.#fallbacks.note('change_feed', error)
        return false
      })
      for (const one of told) one.failures++
      const left = isWritten || isLast ? [] : told.filter(one => one.failures <= TOLD_AGAIN)
      this.#untold.splice(0, told.length, ...left)
      if (isWritten) this.#options.onTold?.()
      const pauseMs = RETRY_PAUSES_MS[failures] ?? LONGEST_PAUSE_MS
      failures = isWritten ? 0 : failures + 1
      if (failures > 0 && left.length > 0) await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
    this.#writing = null
  }

  async #append(changes: readonly (Change | null)[]): Promise<boolean> {
    const { states, key } = this.#options
    const added = changes.map(change => ({ from: this.#name, change: change as unknown }))
    for (let turn = 0; turn < TRIES; turn++) {
      const stored = await states.read(key)
      const value = bounded(appended(readEntry(stored?.value) ?? EMPTY, added)) as JsonValue
      const written = stored === null ? await states.create(key, value) : await states.replace(key, value, stored.etag)
      if (written.status === 'written') return true
      await new Promise(resolve => setTimeout(resolve, Math.random() * 50 * (turn + 1)))
    }
    throw new Error('others write the changes at the same time again and again')
  }

  async #readNew(): Promise<void> {
    if (this.#closing.signal.aborted) return
    const { states, key, readMs = READ_MS } = this.#options
    try {
      const stored = await withTimeout(states.read(key), readMs, () => {
        throw new Error('the store answers too late')
      })
      const entry = stored === null ? EMPTY : readEntry(stored.value)
      // Another version of this program may write it in another form.
      if (entry === null) {
        this.#options.onMissed()
        this.#options.order?.known(null)
      } else this.#apply(entry)
    } catch (error) {
      // The next look reads these changes.
      this.#hasFailed = true
      this.#fallbacks.note('change_feed', error)
    }
  }

  #apply({ last, changes }: Entry): void {
    const seen = this.#seen
    this.#seen = last
    if (seen === last) return
    const first = last - changes.length + 1
    // If the entry was removed, its numbers start again, so `last` is smaller than before.
    // If the first look failed, this process may have cached answers before the second one, which any of these changes may outdate.
    const isMissed = seen === null ? this.#hasFailed && last > 0 : last < seen || first > seen + 1
    if (isMissed) this.#options.onMissed()
    // Changes from before the first look cannot outdate what this process cached, but they order the answers that processes share.
    const isNew = seen !== null && !isMissed
    this.#options.order?.known(last)
    if (!isNew) this.#options.order?.missed(first - 1)
    for (const [index, { from, change }] of changes.entries()) {
      const number = first + index
      if (isNew && number <= seen) continue
      this.#hear(from, change, number, isNew)
    }
  }

  /** @param isNew whether the change may outdate what this process cached */
  #hear(from: string, change: unknown, number: number, isNew: boolean): void {
    const { schema, order, onChange, onMissed } = this.#options
    const isOwn = from === this.#name
    const parsed = schema.safeParse(change)
    if (parsed.success) order?.note(parsed.data, number, isOwn)
    else order?.missed(number)
    if (!isNew || isOwn) return
    if (parsed.success) onChange(parsed.data)
    else onMissed()
  }
}

function readEntry(value: unknown): Entry | null {
  return Entry.safeParse(value).data ?? null
}

function appended({ last, changes }: Entry, added: Entry['changes']): Entry {
  return { last: last + added.length, changes: [...changes, ...added].slice(-KEPT) }
}

/** Without the oldest changes, until it is small enough. One that is too large by itself is told as a missed one. */
function bounded({ last, changes }: Entry): Entry {
  const small = changes.map(one => (bytesOf(one) > KEPT_BYTES / 2 ? { from: one.from, change: null } : one))
  while (small.length > 1 && bytesOf(small) > KEPT_BYTES) small.shift()
  return { last, changes: small }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
