import { LRUCache } from 'lru-cache'
import { memoryOfEntry } from '#core/memory.ts'
import type { HostChange } from './webhook.ts'

/** When a subject last changed. */
interface Mark {
  /** Number of the last change in the order of the change feed. 0: none is numbered yet. */
  number: number
  /** Changes that this process heard itself and that have no number yet. */
  unnumbered: number
}

/** Memory of the marks: some ten thousand subjects. An evicted mark raises the number below which no shared answer counts. */
const MARKS_BYTES = 4 * 1024 * 1024
const UNMARKED: Mark = { number: 0, unnumbered: 0 }

/**
 * Which shared answers the host's webhooks outdate, by the numbers of the change feed rather than by clocks, which differ between
 * processes: an answer carries the number of the last change that its asker knew, and counts only if no later change is about its subject.
 */
export class InvalidationLog {
  readonly #marks = new LRUCache<string, Mark>({
    maxSize: MARKS_BYTES,
    sizeCalculation: memoryOfEntry,
    dispose: ({ number, unnumbered }, _subject, reason) => {
      if (reason === 'evict') this.missed(unnumbered > 0 ? Math.max(number, (this.#last ?? 0) + 1) : number)
    },
  })
  /** Answers of askers that knew fewer changes do not count. */
  #least = 0
  /** `null` before the first look at the feed, and while it cannot be understood. */
  #last: number | null

  /** @param hasFeed whether there is a change feed; without one, no change is ever heard */
  constructor(hasFeed: boolean) {
    this.#last = hasFeed ? null : 0
  }

  /** Number of the last known change, which an answer to a question asked now carries. */
  get last(): number {
    return this.#last ?? 0
  }

  /** Notes a change that this process heard itself, before the feed has numbered it. */
  begin(change: HostChange): void {
    for (const subject of subjectsOf(change)) {
      const { number, unnumbered } = this.#mark(subject)
      this.#marks.set(subject, { number, unnumbered: unnumbered + 1 })
    }
  }

  /** Notes a change that the feed has numbered. @param isOwn whether this process heard it itself */
  note(change: HostChange, number: number, isOwn: boolean): void {
    for (const subject of subjectsOf(change)) {
      const mark = this.#mark(subject)
      this.#marks.set(subject, {
        number: Math.max(mark.number, number),
        unnumbered: Math.max(0, mark.unnumbered - (isOwn ? 1 : 0)),
      })
    }
  }

  /** Changes up to this number may have been missed. */
  missed(number: number): void {
    this.#least = Math.max(this.#least, number)
  }

  /** All changes up to this number were noted. A smaller number than before: the feed counts anew. `null`: no shared answer counts. */
  known(last: number | null): void {
    if (this.#last !== null && last !== null && last < this.#last) this.#countAnew(last)
    this.#last = last
  }

  /** @param since number of the last change that the asker knew @param subjects as `subjectsOf` returns them */
  isOutdated(since: number, subjects: readonly string[]): boolean {
    if (this.#last === null || since < this.#least) return true
    return subjects.some(subject => {
      const { number, unnumbered } = this.#mark(subject)
      return unnumbered > 0 || since < number
    })
  }

  #mark(subject: string): Mark {
    return this.#marks.get(subject) ?? UNMARKED
  }

  #countAnew(last: number): void {
    this.#least = last
    for (const [subject, { unnumbered }] of [...this.#marks.entries()]) this.#marks.set(subject, { number: 0, unnumbered })
  }
}

/** What a question about a repository is about: its name, its account and, once it is known, its id. */
export function subjectsOfRepository(fullName: string, id: string | null): string[] {
  const name = fullName.toLowerCase()
  return [`name ${name}`, `account ${name.slice(0, name.indexOf('/'))}`, ...(id === null ? [] : [`id ${id}`])]
}

/** What a question about a ref is about. @param id of the repository */
export function subjectsOfRef(id: string): string[] {
  return [...subjectsOfCommit(id), `refs ${id}`]
}

/** What a question about a commit is about. A ref that moves takes no commit away for which there was a proof. @param id of the repository */
export function subjectsOfCommit(id: string): string[] {
  return [`id ${id}`]
}

/** An account stands for all its repositories, whose ids are not known here. */
function subjectsOf({ repositories, accounts, refs }: HostChange): Set<string> {
  return new Set([
    ...repositories.flatMap(({ id, fullName }) => [`id ${id}`, `name ${fullName.toLowerCase()}`]),
    ...accounts.map(login => `account ${login.toLowerCase()}`),
    ...refs.map(({ id }) => `refs ${id}`),
  ])
}
