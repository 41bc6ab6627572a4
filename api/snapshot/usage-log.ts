import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { entriesAtMost, memoryOfText } from '#core/memory.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { HiddenRepository, ReadMark, SeenRef } from '#core/snapshot/retention.ts'
import { hiddenKey, keptPrefix, readMarkKey, seenRefKey } from '#core/snapshot/store-keys.ts'
import type { RepositoryName } from '../operator/repository-rule.ts'

/**
 * Records in the state store which snapshots are used, so that a sweep keeps them. Requests do not wait for it. A process writes
 * each fact about once a day; a fact that cannot be written now is written when it is observed again.
 */
export interface UsageLog {
  /** A snapshot was opened. */
  opened(use: SnapshotUse): void
  /** The host shows no public repository under this name. Marks the repository hidden only if this process opened it recently. */
  missing(name: RepositoryName): void
  /** The host no longer shows this repository to the public. */
  hidden(repositoryId: string): void
  /** The host deleted the repository, or no longer lets this deployment read it where it is private. Public ones are found hidden by visits. */
  gone(repositoryId: string): void
  /** Resolves when all facts are written. */
  written(): Promise<void>
  /** Drops the facts that wait, and resolves when the current write ends. */
  close(): Promise<void>
}

/** The opening of a snapshot. */
export interface SnapshotUse {
  /** The name in the request, which may be an old one. */
  name: RepositoryName
  repository: HostRepository
  commit: CommitSha
  /** The branch or tag that was resolved to the commit; `null` if the request named the commit. */
  ref: string | null
}

/** Repository names whose id is remembered, and hidden repositories. */
const REMEMBERED_NAMES = 10_000
const PAUSE_MS = 10

/**
 * @param pauseMs between two writes: an embedded store blocks the whole process while it writes
 * @param fallbacks is told of every fact that is lost
 */
export function createUsageLog(
  states: StateStore,
  clock: Clock,
  pauseMs = PAUSE_MS,
  fallbacks: Fallbacks = NO_FALLBACKS,
): UsageLog {
  const notes = createNoteQueue(pauseMs, fallbacks)
  const hidden = createHiddenNotes(notes, states, clock)
  const ids = new LRUCache<string, string>(entriesAtMost(REMEMBERED_NAMES))
  const days = createDays()

  function rememberName(name: RepositoryName, id: string): void {
    const text = textOf(name)
    if (ids.get(text) !== id) ids.set(text, id)
  }

  return {
    opened(use) {
      const { repository, commit, ref } = use
      const now = clock.now()
      const day = days.of(now)
      const { host, owner, name: current, id } = repository
      const isRenamed = use.name.repository !== current || use.name.owner !== owner
      const opened = isRenamed ? [use.name, { host, owner, repository: current }] : [use.name]
      if (repository.visibility === 'public') {
        for (const name of opened) rememberName(name, id)
        hidden.unhide(id)
      } else {
        // A request for the name by a stranger must be answered as if the private repository had never been opened.
        for (const name of opened) {
          // Its public snapshots are removed as soon as after a visit of a stranger.
          if (ids.get(textOf(name)) === id) hidden.hide(id)
          ids.delete(textOf(name))
        }
      }
      noteRead(notes, states, { repository, commit, day })
      if (ref !== null) noteRef(notes, states, { repository, commit, ref, day, seenAt: now })
    },

    missing(name) {
      const id = ids.get(textOf(name))
      if (id !== undefined) hidden.hide(id)
    },

    hidden: hidden.hide,
    gone: hidden.hidePrivate,
    written: notes.drained,
    close: notes.close,
  }
}

interface OpenedSnapshot extends Pick<SnapshotUse, 'repository' | 'commit'> {
  /** `YYYY-MM-DD` */
  day: string
}

function noteRead(notes: NoteQueue, states: StateStore, { repository, commit, day }: OpenedSnapshot): void {
  notes.add(`read ${repository.id} ${commit}`, day, () => {
    return writeLater(states, readMarkKey(repository, commit), { day }, isReadLater)
  })
}

function noteRef(
  notes: NoteQueue,
  states: StateStore,
  { repository, commit, day, ref, seenAt }: OpenedSnapshot & { ref: string; seenAt: Date },
): void {
  notes.add(`ref ${repository.id} ${ref}`, `${commit} ${day}`, () => {
    const seen = { ref, commit, seenAt: seenAt.toISOString() }
    return writeLater(states, seenRefKey(repository, digestOf(ref)), seen, isSeenLater)
  })
}

/** Notes since when repositories are hidden. */
interface HiddenNotes {
  hide(repositoryId: string): void
  /** Marks what is stored of it as a private repository, if anything is. A later visit voids the mark. */
  hidePrivate(repositoryId: string): void
  /** Removes the note of a repository that this process hid. */
  unhide(repositoryId: string): void
}

function createHiddenNotes(notes: NoteQueue, states: StateStore, clock: Clock): HiddenNotes {
  const hiddenIds = new LRUCache<string, true>(entriesAtMost(REMEMBERED_NAMES))
  const keyOf = (id: string) => hiddenKey({ id, visibility: 'public' })
  return {
    hide(id) {
      hiddenIds.set(id, true)
      const since = clock.now().toISOString()
      notes.add(`hidden ${id}`, 'hidden', async () => {
        // Does not replace an existing note: the first one has the right date.
        await states.create(keyOf(id), { since } satisfies HiddenRepository)
      })
    },

    hidePrivate(id) {
      const since = clock.now().toISOString()
      const repository = { id, visibility: 'private' } as const
      notes.add(`hidden private ${id}`, since, async () => {
        const used = await states.list(keptPrefix(repository), { limit: 1 })
        if (used.length > 0) await writeLater(states, hiddenKey(repository), { since }, isHiddenLater)
      })
    },

    unhide(id) {
      if (!hiddenIds.delete(id)) return
      notes.add(`hidden ${id}`, 'shown', () => states.remove(keyOf(id)))
    },
  }
}

const DAY_CHARACTERS = 'YYYY-MM-DD'.length
const DAY_MS = 24 * 60 * 60 * 1000

/** Formats days as `YYYY-MM-DD`. Keeps the last one, since every request asks for the same day. */
function createDays(): { of(instant: Date): string } {
  let lastDay = Number.NaN
  let formatted = ''
  return {
    of(instant) {
      const day = Math.floor(instant.getTime() / DAY_MS)
      if (day !== lastDay) {
        lastDay = day
        formatted = instant.toISOString().slice(0, DAY_CHARACTERS)
      }
      return formatted
    },
  }
}

function textOf({ host, owner, repository }: RepositoryName): string {
  return `${host}/${owner}/${repository}`
}

function digestOf(ref: string): string {
  return createHash('sha256').update(ref).digest('hex')
}

/** Creates an entry, or replaces an earlier one. Losing a race is no failure: the other writer wrote the same fact. */
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

/** An earlier note may be void, since the repository was visited after it. */
function isHiddenLater({ since }: HiddenRepository, stored: JsonValue): boolean {
  const before = HiddenRepository.safeParse(stored).data
  return before === undefined || Date.parse(before.since) < Date.parse(since)
}

function isSeenLater({ seenAt }: SeenRef, stored: JsonValue): boolean {
  const before = SeenRef.safeParse(stored).data
  return before === undefined || Date.parse(before.seenAt) < Date.parse(seenAt)
}

/**
 * Writes small notes one after another in the background. A note is dropped if its value was written before. It is also dropped if too many
 * wait or if writing fails; then the next call with the same name writes it.
 */
interface NoteQueue {
  /**
   * Queues a note.
   *
   * @param name replaces a waiting note of the same name
   * @param value the note is written again only when its value changes
   */
  add(name: string, value: string, write: () => Promise<void>): void
  /** Resolves when no note waits. */
  drained(): Promise<void>
  /** Drops waiting notes and resolves when the current one is written. */
  close(): Promise<void>
}

/** Estimated memory of the values of written notes. A forgotten note is written once more. */
const WRITTEN_BYTES = 8 * 1024 * 1024
const ENTRY_BYTES = 128
/** Notes that wait at most. */
const WAITING_NOTES = 5_000

/**
 * @param pauseMs between two notes: an embedded store blocks the whole process while it writes
 * @param fallbacks is told of every note that is lost
 */
function createNoteQueue(pauseMs: number, fallbacks: Fallbacks): NoteQueue {
  const written = new LRUCache<string, string>({
    maxSize: WRITTEN_BYTES,
    sizeCalculation: (value, name) => ENTRY_BYTES + memoryOfText(name) + memoryOfText(value),
  })
  const waiting = new Map<string, () => Promise<void>>()
  const closing = new AbortController()
  let working: Promise<void> | null = null

  function start(): void {
    working ??= writeWaiting().finally(() => {
      working = null
      if (waiting.size > 0) start()
    })
  }

  async function writeWaiting(): Promise<void> {
    for (const [name, write] of waiting) {
      waiting.delete(name)
      await write().catch(error => {
        written.delete(name)
        fallbacks.note('use_note', error)
      })
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  return {
    add(name, value, write) {
      if (written.get(name) === value || closing.signal.aborted) return
      if (waiting.size >= WAITING_NOTES && !waiting.has(name))
        return fallbacks.note('use_note', new Error(`${WAITING_NOTES} notes wait already`))
      written.set(name, value)
      waiting.set(name, write)
      start()
    },

    async drained() {
      while (working) await working
    },

    async close() {
      closing.abort()
      waiting.clear()
      await working
    },
  }
}
