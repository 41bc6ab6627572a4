import { LRUCache } from 'lru-cache'
import { entriesAtMost } from '#core/memory.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import type { HiddenRepository } from '#core/snapshot/hidden-repository.ts'
import { headersPrefix, hiddenKey, type KeyedRepository } from '#core/snapshot/store-keys.ts'
import type { RepositoryName } from '../operator/repository-rule.ts'

/**
 * Notes in the state store which repositories their hosts hide, so that a sweep removes their snapshots after `HIDDEN_HOURS`. No request waits
 * for it. What cannot be written or removed now is tried again at the next visit.
 */
export interface HiddenNotes {
  /** A snapshot of the repository was opened under this name. If another process noted the repository as hidden, removes the note within the hour. */
  opened(name: RepositoryName, repository: HostRepository): void
  /** The host shows no public repository under this name. Notes the repository only if this process opened it recently. */
  missing(name: RepositoryName): void
  /** The host no longer shows this repository to the public. */
  hidden(repositoryId: string): void
  /** The host deleted the repository, or no longer lets this deployment read it where it is private. Public ones are found hidden by visits. */
  gone(repositoryId: string): void
  /** Resolves when all notes are written. */
  written(): Promise<void>
  /** Drops the notes that wait, and resolves when the current write ends. */
  close(): Promise<void>
}

/** Repository names whose id is remembered, and repositories whose note is. */
const REMEMBERED = 10_000
/** How long a process relies on what it last did to a note: another process may have changed it since. */
const REMEMBERED_MS = 3_600_000
const WAITING_NOTES = 5_000

/** @param fallbacks is told of every note that is lost */
export function createHiddenNotes(
  { blobs, states }: { blobs: Pick<BlobStore, 'list'>; states: StateStore },
  clock: Clock,
  fallbacks: Fallbacks = NO_FALLBACKS,
): HiddenNotes {
  const ids = new LRUCache<string, string>(entriesAtMost(REMEMBERED))
  const notes = createNotes(clock, fallbacks)

  function hide(id: string): void {
    const repository = { id, visibility: 'public' } as const
    // Does not replace an existing note: the first one has the right date.
    notes.change(repository, 'hidden', async since => {
      await states.create(hiddenKey(repository), { since })
    })
  }

  return {
    opened(name, repository) {
      const { host, owner, name: current, id } = repository
      for (const text of new Set([textOf(name), textOf({ host, owner, repository: current })])) {
        if (repository.visibility === 'public') ids.set(text, id)
        else {
          // Its public snapshots are removed as soon as after a visit of a stranger.
          if (ids.get(text) === id) hide(id)
          // A request for the name by a stranger must be answered as if the private repository had never been opened.
          ids.delete(text)
        }
      }
      notes.change(repository, 'shown', async () => {
        if ((await states.read(hiddenKey(repository))) !== null) await states.remove(hiddenKey(repository))
      })
    },

    missing(name) {
      const id = ids.get(textOf(name))
      if (id !== undefined) hide(id)
    },

    hidden: hide,

    gone(id) {
      const repository = { id, visibility: 'private' } as const
      notes.change(repository, 'hidden', async since => {
        // An account that installs the App may delete thousands of repositories that were never indexed.
        const stored = await blobs.list(headersPrefix(repository), { limit: 1 })
        if (stored.length > 0) await states.create(hiddenKey(repository), { since })
      })
    },

    written: notes.written,
    close: notes.close,
  }
}

function textOf({ host, owner, repository }: RepositoryName): string {
  return `${host}/${owner}/${repository}`
}

/** Changes notes one after another in the background. A change is lost if too many wait or if the store fails; then the next one is made. */
interface Notes {
  /** Does nothing if this process did the same less than `REMEMBERED_MS` ago. */
  change(repository: KeyedRepository, to: 'hidden' | 'shown', write: (since: HiddenRepository['since']) => Promise<void>): void
  written(): Promise<void>
  close(): Promise<void>
}

function createNotes(clock: Clock, fallbacks: Fallbacks): Notes {
  const done = new LRUCache<string, { to: string; at: number }>(entriesAtMost(REMEMBERED))
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  let isClosed = false

  return {
    change({ id, visibility }, to, write) {
      const now = clock.now()
      const repository = `${visibility} ${id}`
      const before = done.get(repository)
      if (before?.to === to && now.getTime() - before.at < REMEMBERED_MS) return
      if (waiting >= WAITING_NOTES) return fallbacks.note('hidden_note', new Error(`${WAITING_NOTES} notes wait already`))
      done.set(repository, { to, at: now.getTime() })
      waiting++
      last = last
        .then(() => (isClosed ? undefined : write(now.toISOString())))
        .catch(error => {
          done.delete(repository)
          fallbacks.note('hidden_note', error)
        })
        .finally(() => waiting--)
    },

    async written() {
      while (waiting > 0) await last
    },

    async close() {
      isClosed = true
      await last
    },
  }
}
