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
 * Notes what is used, so that a sweep keeps it. Nobody waits for a note, and none is made twice a day: what cannot be written now is
 * noted at a later use.
 */
export interface Uses {
  opened(use: Use): void
  /** The host says that everyone is shown nothing under this name. What was shown before is known of what was opened here lately. */
  missing(name: RepositoryName): void
  /** The same of a repository that everyone was shown. */
  hidden(repositoryId: string): void
  /** Resolves when no note waits to be written. */
  written(): Promise<void>
  /** Drops what waits, and resolves when nothing is being written. */
  close(): Promise<void>
}

/** Somebody has opened a snapshot. */
export interface Use {
  /** As it was asked for. */
  name: RepositoryName
  repository: HostRepository
  commit: CommitSha
  /** The branch or tag that led there; `null`: the commit itself was named. */
  ref: string | null
}

/** Notes that are remembered as made. One that is forgotten is read once more. */
const REMEMBERED = 20_000
const REMEMBERED_NAMES = 10_000
/** Notes that wait. Further ones are made at a later use. */
const WAITING = 5_000
/** Between two notes: an embedded store holds the whole process while it writes. */
const PAUSE_MS = 10

export function createUses(states: StateStore, clock: Clock, pauseMs = PAUSE_MS): Uses {
  const noted = new LRUCache<string, string>({ max: REMEMBERED })
  const ids = new LRUCache<string, string>({ max: REMEMBERED_NAMES })
  const hiddenIds = new LRUCache<string, true>({ max: REMEMBERED_NAMES })
  const waiting = new Map<string, () => Promise<void>>()
  const closing = new AbortController()
  const days = createDays()
  let working: Promise<void> | null = null

  /** @param what anything that is the same while there is nothing new to write under the name */
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
    // Of those who note it the first one says since when.
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

/** Spells days as `YYYY-MM-DD`: every request asks for the same one. */
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

/** Writes over what is earlier. Who loses against another writer has nothing to add: it wrote the same just now. */
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
