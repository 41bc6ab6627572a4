import type { TestRepository } from '../support/repository.ts'

/** After a webhook, every replica shows the new commit so soon. */
const HEARD_SECONDS = 5
/** Without one, so soon. */
const FRESH_SECONDS = 60

/** What a repository showed, and since when: milliseconds of `performance.now()`. */
export interface Version {
  commit: string
  pushedAt: number
  /** When one of the replicas had answered a webhook about it; `null`: nobody was told. */
  heardAt: number | null
}

/** What a replica answered to a visitor. */
export interface Shown {
  replica: number
  commit: string
  /** Of the index of this commit: a new commit that is not indexed yet is fresh, an old one that is ready is stale. */
  state: string
  askedAt: number
}

/** A repository that is pushed to, and what replicas showed of it. */
export class Watched {
  readonly repository: TestRepository
  readonly address: string
  readonly versions: Version[] = []
  /** Looks that were older than `HEARD_SECONDS` after a webhook. */
  late = 0
  /** By what was shown where: the worst of its looks. */
  readonly #misses = new Map<string, { seconds: number; text: string }>()
  #pushing: Promise<unknown> = Promise.resolve()

  constructor(repository: TestRepository) {
    this.repository = repository
    this.address = `/gh/${repository.owner}/${repository.name}`
  }

  get newest(): Version {
    const version = this.versions.at(-1)
    if (!version) throw new Error(`nothing was pushed to ${this.address}`)
    return version
  }

  /** What must not have been, with replica, commit and state. */
  get misses(): string[] {
    return [...this.#misses.values()].map(({ text }) => text)
  }

  async push(files: Record<string, string>): Promise<Version> {
    const pushedAt = performance.now()
    const pushing = this.repository.commit(files).then(commit => {
      this.versions.push({ commit, pushedAt, heardAt: null })
    })
    this.#pushing = pushing
    await pushing
    return this.newest
  }

  /**
   * An answer may be of the newest commit, and of an older one for as long as its successor need not be known.
   *
   * @param graceSeconds added to each time limit
   */
  async judge(shown: Shown, graceSeconds: number): Promise<void> {
    // A replica may show a commit before the one who pushes it knows its id.
    await this.#pushing
    const index = this.versions.findIndex(({ commit }) => commit === shown.commit)
    if (index < 0) return this.#note(shown, 0, 'was never pushed')
    for (const { commit, pushedAt, heardAt } of this.versions.slice(index + 1)) {
      const sinceHeard = heardAt === null ? 0 : (shown.askedAt - heardAt) / 1000
      const sincePushed = (shown.askedAt - pushedAt) / 1000
      if (sinceHeard > HEARD_SECONDS) this.late++
      if (sinceHeard > HEARD_SECONDS + graceSeconds)
        this.#note(shown, sinceHeard, `${seconds(sinceHeard)} after a webhook told of ${short(commit)}`)
      else if (sincePushed > FRESH_SECONDS + graceSeconds)
        this.#note(shown, sincePushed, `${seconds(sincePushed)} after the push of ${short(commit)}`)
    }
  }

  #note({ replica, commit, state }: Shown, seconds: number, what: string): void {
    const key = `${replica} ${commit}`
    if (seconds < (this.#misses.get(key)?.seconds ?? 0)) return
    this.#misses.set(key, { seconds, text: `replica ${replica} shows ${this.address} at ${short(commit)} (${state}): ${what}` })
  }
}

function short(commit: string): string {
  return commit.slice(0, 8)
}

function seconds(count: number): string {
  return `${count.toFixed(1)} s`
}
