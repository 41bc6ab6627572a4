import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { createGate, type Gate, GateFull } from '#core/concurrency/gate.ts'
import type { Clock } from '#core/ports/system.ts'
import { FetchTooLarge } from './fetch.ts'
import { absentTips, fetchHistory, isCommit, leadsTo, setTips, type TipSet } from './history.ts'
import type { GitResources } from './process.ts'
import type { Remote } from './upload-pack.ts'
import { type GitView, openScratch } from './view.ts'

/** A repository of another machine. */
export interface HistorySource {
  /** It keeps this when its name changes. */
  id: string
  remote: Remote
}

/**
 * What only the commits of a repository tell. They are fetched without trees, and kept for some minutes in a scratch repository of our
 * own: the next question is answered without the network, or by what was added since. Of one repository one thing is done at a time,
 * so it takes one of the few places for those that fetch, and who waits for it shares what comes: the history, or that there is none.
 */
export interface Histories {
  /** Whether a tip leads to the commit. @throws GateFull where too many wait, or why the history cannot be had */
  leadTo(source: HistorySource, tips: TipSet, commit: string): Promise<boolean>
  /** Whether the host gives out a commit under this id, which is fetched alone. @throws as `leadTo` */
  isCommit(source: HistorySource, oid: string): Promise<boolean>
  /** After `closing`: waits for those under way, and removes everything. */
  close(): Promise<void>
}

export interface HistoryBounds {
  /** Repositories whose history is kept. */
  repositories: number
  /** Of all of them on disk. */
  bytes: number
  /** Counted from when a history was fetched whole. No folder of it may be as old as those that `removeLeftoverViews` takes. */
  milliseconds: number
}

/** One of the largest histories that are fetched, or some hundred of the usual size. */
export const HISTORY_BOUNDS: HistoryBounds = { repositories: 8, bytes: 768 * 1024 * 1024, milliseconds: 600_000 }

export interface HistoriesOptions {
  clock: Clock
  /** Ends everything under way. */
  closing: AbortSignal
  /** Default: `HISTORY_BOUNDS`. */
  bounds?: HistoryBounds
  /** What a fetch may take of this machine. Default: as for every fetch. */
  resources?: GitResources
}

/** Fetched at once; each may take hundreds of megabytes on disk. */
const FETCHES = 2
/** Repositories that may wait for their turn to fetch. */
const WAITING_REPOSITORIES = 16
/** Questions about one repository that may wait for each other. */
const WAITING_QUESTIONS = 31
const ANSWER_MS = 60_000
/** A repository that takes more of this machine, or more time, than it may is not tried again for so long. */
const TOO_LARGE_SECONDS = 600
const HELD_TOO_LARGE = 10_000
/** Every one adds a pack, and git looks through all of them. */
const ADDITIONS = 20

interface History {
  /** Those who ask or wait. */
  users: number
  alone: Gate
  /** Of the last question that failed; `null`: none did. */
  failure: { error: unknown } | null
  /** `null` before the first fetch, and after a failure. */
  folder: Folder | null
}

interface Folder {
  view: GitView
  bytes: number
  /** Of the tips that its refs are. */
  fingerprint: string
  additions: number
  /** Has it removed when its time is over. */
  timer: NodeJS.Timeout
  isOld: boolean
}

export function createHistories({ clock, closing, bounds = HISTORY_BOUNDS, resources }: HistoriesOptions): Histories {
  /** By id; the one that was used last is the last. */
  const histories = new Map<string, History>()
  /** By id. */
  const tooLarge = new LRUCache<string, { error: unknown; foundAt: number }>({ max: HELD_TOO_LARGE })
  const toFetch = createGate(FETCHES, WAITING_REPOSITORIES)
  const running = new Set<Promise<unknown>>()
  const limits = resources === undefined ? {} : { resources }
  const now = () => clock.now().getTime()

  /** @param question told of the failure that was the last when it was asked */
  async function ask<Value>(
    { id }: HistorySource,
    question: (history: History, failureBefore: History['failure']) => Promise<Value>,
  ): Promise<Value> {
    const history = histories.get(id) ?? { users: 0, alone: createGate(1, WAITING_QUESTIONS), failure: null, folder: null }
    histories.delete(id)
    histories.set(id, history)
    const { failure } = history
    history.users++
    try {
      return await history.alone(() => {
        closing.throwIfAborted()
        return question(history, failure)
      })
    } finally {
      history.users--
      tidy()
    }
  }

  async function leadTo({ id, remote }: HistorySource, tips: TipSet, commit: string): Promise<boolean> {
    if (tips.oids.length === 0) return false
    return ask({ id, remote }, async (history, failureBefore) => {
      const known = tooLarge.get(id)
      if (known && now() - known.foundAt < TOO_LARGE_SECONDS * 1000) throw known.error
      // Whoever waited while it failed is not kept waiting for the same.
      if (history.failure !== null && history.failure !== failureBefore) throw history.failure.error
      try {
        const { gitDir } = (await update(history, remote, tips)).view
        return await inTime(signal => leadsTo({ gitDir, signal }, commit))
      } catch (error) {
        history.failure = { error }
        if (isTooLarge(error)) tooLarge.set(id, { error, foundAt: now() })
        // What a fetch left behind when it broke off tells nothing. One that found no place has touched nothing.
        if (!(error instanceof GateFull)) discard(history)
        throw error
      }
    })
  }

  /** Has the history lead from the tips and nowhere else; fetches of it what is not at hand. */
  async function update(history: History, remote: Remote, tips: TipSet): Promise<Folder> {
    const { folder } = history
    if (folder?.fingerprint === tips.fingerprint && !folder.isOld) return folder
    if (folder === null || folder.isOld || folder.additions === ADDITIONS) {
      discard(history)
      return toFetch(() => begin(history, remote, tips))
    }
    const { gitDir } = folder.view
    const added = await inTime(signal => absentTips({ gitDir, signal }, tips))
    if (added.length > 0) {
      await toFetch(() => inTime(signal => fetchHistory({ gitDir, remote, signal, ...limits }, added, tips)))
      folder.additions++
    }
    return finish(folder, tips)
  }

  async function begin(history: History, remote: Remote, tips: TipSet): Promise<Folder> {
    closing.throwIfAborted()
    const folder: Folder = {
      view: await openScratch(),
      bytes: 0,
      fingerprint: '',
      additions: 0,
      timer: setTimeout(() => {
        folder.isOld = true
        tidy()
      }, bounds.milliseconds).unref(),
      isOld: false,
    }
    history.folder = folder
    const { gitDir } = folder.view
    await inTime(signal => fetchHistory({ gitDir, remote, signal, ...limits }, tips.oids, tips))
    return finish(folder, tips)
  }

  async function finish(folder: Folder, tips: TipSet): Promise<Folder> {
    const { gitDir } = folder.view
    await inTime(signal => setTips({ gitDir, signal }, tips))
    folder.fingerprint = tips.fingerprint
    folder.bytes = await packedBytes(gitDir)
    return folder
  }

  async function isCommitThere({ remote }: HistorySource, oid: string): Promise<boolean> {
    const { gitDir, remove } = await openScratch()
    try {
      return await inTime(signal => isCommit({ gitDir, remote, signal, ...limits }, oid))
    } finally {
      await remove()
    }
  }

  async function inTime<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const timeout = AbortSignal.timeout(ANSWER_MS)
    try {
      return await work(AbortSignal.any([closing, timeout]))
    } catch (error) {
      timeout.throwIfAborted()
      throw error
    }
  }

  /** Removes what is kept for nothing. */
  function tidy(): void {
    const held = [...histories.values()].flatMap(history =>
      history.folder === null
        ? []
        : { history, isUsed: history.users > 0, isOld: history.folder.isOld, bytes: history.folder.bytes },
    )
    for (const { history } of surplusAmong(held, bounds)) discard(history)
    for (const [id, { users, folder }] of histories) {
      if (users === 0 && folder === null) histories.delete(id)
    }
  }

  function discard(history: History): void {
    const { folder } = history
    history.folder = null
    if (folder === null) return
    clearTimeout(folder.timer)
    // What cannot be removed now is found by `removeLeftoverViews`.
    void until(folder.view.remove().catch(() => {}))
  }

  function until<Value>(work: Promise<Value>): Promise<Value> {
    running.add(work)
    const end = () => void running.delete(work)
    work.then(end, end)
    return work
  }

  return {
    leadTo: (source, tips, commit) => until(leadTo(source, tips, commit)),

    isCommit: (source, oid) => until(ask(source, () => toFetch(() => isCommitThere(source, oid)))),

    async close() {
      await Promise.allSettled(running)
      for (const history of histories.values()) discard(history)
      histories.clear()
      await Promise.allSettled(running)
    },
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof FetchTooLarge || (error as Error).name === 'TimeoutError'
}

interface Held {
  isUsed: boolean
  isOld: boolean
  bytes: number
}

/**
 * Which of the histories go, given in the order of their last use: those that are old or too large by themselves, and then those unused
 * for longest until the rest are few and small enough. None goes while it is used.
 */
export function surplusAmong<One extends Held>(
  held: readonly One[],
  bounds: Pick<HistoryBounds, 'repositories' | 'bytes'>,
): One[] {
  const useless = held.filter(({ isUsed, isOld, bytes }) => !isUsed && (isOld || bytes > bounds.bytes))
  const useful = held.filter(one => !useless.includes(one))
  let count = useful.length
  let bytes = useful.reduce((sum, one) => sum + one.bytes, 0)
  const surplus = useful.filter(one => {
    if (one.isUsed || (count <= bounds.repositories && bytes <= bounds.bytes)) return false
    count--
    bytes -= one.bytes
    return true
  })
  return [...useless, ...surplus]
}

async function packedBytes(gitDir: string): Promise<number> {
  const folder = join(gitDir, 'objects/pack')
  const sizes = await Promise.all((await readdir(folder)).map(async name => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
