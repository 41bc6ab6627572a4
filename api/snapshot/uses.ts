import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { type HiddenRepository, ReadMark, SeenRef } from '#core/snapshot/retention.ts'
import { hiddenKey, readMarkKey, seenRefKey } from '#core/snapshot/store-keys.ts'
import type { RepositoryName } from '../operator/repository-rule.ts'

/**
 * Notes which snapshots are used, so that a sweep keeps them. Notes are written in the background, each at most once a day; a note that
 * cannot be written is retried at a later use.
 */
export interface Uses {
  opened(use: Use): void
  /** The host shows no public repository under this name. Marks it hidden only if this process opened it recently. */
  missing(name: RepositoryName): void
  /** Marks a repository hidden that was public before. */
  hidden(repositoryId: string): void
  /** Resolves when no note is pending. */
  written(): Promise<void>
  /** Drops pending notes, and resolves when no write is running. */
  close(): Promise<void>
}

/** One opening of a snapshot. */
export interface Use {
  /** As requested. */
  name: RepositoryName
  repository: HostRepository
  commit: CommitSha
  /** The requested branch or tag; `null` when the commit itself was requested. */
  ref: string | null
}

/** Notes known to be written. A note that falls out is read from the store once more. */
const REMEMBERED = 20_000
const REMEMBERED_NAMES = 10_000
/** Pending notes. Further ones wait for a later use. */
const WAITING = 5_000
/** Pause between two notes: an embedded store blocks the process while it writes. */
const PAUSE_MS = 10

export function createUses(states: StateStore, clock: Clock, pauseMs = PAUSE_MS): Uses {
  const noted = new LRUCache<string, string>({ max: REMEMBERED })
  const ids = new LRUCache<string, string>({ max: REMEMBERED_NAMES })
  const hiddenIds = new LRUCache<string, true>({ max: REMEMBERED_NAMES })
  const waiting = new Map<string, () => Promise<void>>()
  const closing = new AbortController()
  const days = createDays()
  let working: Promise<void> | null = null

  /** @param what changes whenever there is something new to write under the name */
  function note(name: string, what: string, write: () => Promise<void>): void {
    if (noted.get(name) === what) return
    if ((waiting.size >= WAITING && !waiting.has(name)) || closing.signal.aborted) return
    noted.set(name, what)
    waiting.set(name, write)
    start()
  }

  function start(): void {
    working ??= work().finally(() => {
      working = null
      if (waiting.size > 0) start()
    })
  }

  async function work(): Promise<void> {
    for (const [name, write] of waiting) {
      waiting.delete(name)
      await write().catch(() => noted.delete(name))
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  function hide(id: string): void {
    hiddenIds.set(id, true)
    // The first note keeps its instant; later ones do not overwrite it.
    const since = clock.now().toISOString()
    note(`hidden ${id}`, 'hidden', async () => {
      await states.create(hiddenKey({ id, visibility: 'public' }), { since } satisfies HiddenRepository)
    })
  }

  function unhide(id: string): void {
    if (!hiddenIds.delete(id)) return
    note(`hidden ${id}`, 'shown', () => states.remove(hiddenKey({ id, visibility: 'public' })))
  }

  return {
    opened({ name, repository, commit, ref }) {
      const now = clock.now()
      const day = days.of(now)
      const { id, host, owner, name: spelled } = repository
      ids.set(nameOf(name), id)
      ids.set(nameOf({ host, owner, repository: spelled }), id)
      unhide(id)
      note(`read ${id} ${commit}`, day, () => writeLater(states, readMarkKey(repository, commit), { day }, isReadLater))
      if (ref === null) return
      note(`ref ${id} ${ref}`, `${commit} ${day}`, () => {
        return writeLater(states, seenRefKey(repository, digestOf(ref)), { ref, commit, seenAt: now.toISOString() }, isSeenLater)
      })
    },

    missing(name) {
      const id = ids.get(nameOf(name))
      if (id !== undefined) hide(id)
    },

    hidden: hide,

    async written() {
      while (working) await working
    },

    async close() {
      closing.abort()
      waiting.clear()
      await working
    },
  }
}

const DAY_CHARACTERS = 'YYYY-MM-DD'.length
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000

/** Formats days as `YYYY-MM-DD`, memoizing the last one, since every request needs the same. */
function createDays(): { of(instant: Date): string } {
  let number = Number.NaN
  let spelled = ''
  return {
    of(instant) {
      const day = Math.floor(instant.getTime() / DAY_MILLISECONDS)
      if (day !== number) {
        number = day
        spelled = instant.toISOString().slice(0, DAY_CHARACTERS)
      }
      return spelled
    },
  }
}

function nameOf({ host, owner, repository }: RepositoryName): string {
  return `${host}/${owner}/${repository}`
}

function digestOf(ref: string): string {
  return createHash('sha256').update(ref).digest('hex')
}

/** Replaces an earlier value. A lost compare-and-swap is ignored: the other writer just wrote the same. */
async function writeLater<Value extends JsonValue>(
  states: StateStore,
  key: string,
  value: Value,
  isLater: (value: Value, stored: JsonValue) => boolean,
): Promise<void> {
  const stored = await states.read(key)
  if (stored === null) await states.create(key, value)
  else if (isLater(value, stored.value)) await states.replace(key, value, stored.etag)
}

function isReadLater({ day }: ReadMark, stored: JsonValue): boolean {
  const before = ReadMark.safeParse(stored).data
  return before === undefined || before.day < day
}

function isSeenLater({ seenAt }: SeenRef, stored: JsonValue): boolean {
  const before = SeenRef.safeParse(stored).data
  return before === undefined || Date.parse(before.seenAt) < Date.parse(seenAt)
}
