import { LRUCache } from 'lru-cache'
import { createLimit } from '#core/concurrency/fair-gate.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { Clock } from '#core/ports/system.ts'
import type { LsRemote, RepositoryName } from './ls-remote.ts'

/** Repositories that the host blocks for everyone. Its listings still name them. */
export interface BlockedRepositories {
  /** Notes what another answer showed. */
  note(repository: RepositoryName, isBlocked: boolean): void
  /** Drops what is known of these repositories. @param names `owner/name` in lower case */
  forget(names: Iterable<string>): void
  /** The repositories that are not blocked. Asks about each at most once an hour. One whose answer does not come in time is kept. */
  without<Listed extends RepositoryName>(listed: readonly Listed[]): Promise<Listed[]>
}

export interface BlockedOptions {
  lsRemote: Pick<LsRemote, 'look'>
  clock: Clock
  patienceMs: number
}

const KNOWN_SECONDS = 3_600
/** Some sixty thousand repositories. */
const KNOWN_BYTES = 16 * 1024 * 1024
/** Concurrent questions of all listings: far fewer than those of visitors. */
const AT_ONCE = 8
/** Questions that may wait: those of a few listings. Others are asked for the next visitor. */
const WAITING = 240

interface Known {
  isBlocked: boolean
  /** In milliseconds since 1970. */
  askedAt: number
}

export function createBlockedRepositories({ lsRemote, clock, patienceMs }: BlockedOptions): BlockedRepositories {
  const known = new LRUCache<string, Known>({ maxSize: KNOWN_BYTES, sizeCalculation: memoryOfEntry })
  const limit = createLimit(AT_ONCE, WAITING)
  const asking = new Map<string, Promise<void>>()

  const note = (repository: RepositoryName, isBlocked: boolean, askedAt = clock.now().getTime()) => {
    known.set(keyOf(repository), { isBlocked, askedAt })
  }

  function isCurrent(repository: RepositoryName): boolean {
    const ageMs = clock.now().getTime() - (known.get(keyOf(repository))?.askedAt ?? Number.NEGATIVE_INFINITY)
    return ageMs >= 0 && ageMs < KNOWN_SECONDS * 1000
  }

  async function ask(repository: RepositoryName): Promise<void> {
    const askedAt = clock.now().getTime()
    // Listed repositories exist. A block holds for everyone, so no credential is needed.
    const answer = await limit(() => lsRemote.look(repository, true, true))
    // Only git's own words say that a repository is blocked; that it is hidden, the listing says.
    if (answer.status === 'ok' || answer.status === 'moved') note(repository, false, askedAt)
    else if (answer.status === 'missing') note(repository, answer.isBlocked, askedAt)
  }

  function askOnce(repository: RepositoryName): Promise<void> {
    const key = keyOf(repository)
    const running = asking.get(key)
    if (running) return running
    // A question that fails, or that finds too many waiting, is asked again for the next visitor.
    const question = ask(repository)
      .catch(() => {})
      .finally(() => asking.delete(key))
    asking.set(key, question)
    return question
  }

  return {
    note,
    forget(names) {
      for (const name of names) known.delete(name)
    },
    async without(listed) {
      const questions = listed.filter(repository => !isCurrent(repository)).map(askOnce)
      if (questions.length > 0) await withTimeout(Promise.all(questions), patienceMs, () => {})
      return listed.filter(repository => known.peek(keyOf(repository))?.isBlocked !== true)
    },
  }
}

/** Names of GitHub ignore case. */
function keyOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase()
}
