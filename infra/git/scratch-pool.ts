import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from './process.ts'
import { openScratch } from './view.ts'

/** A repository of our own with what was fetched into it. */
export interface Scratch {
  readonly gitDir: string
  /** Sizes of blobs that it does not hold, as the host told them. */
  readonly sizes: Map<string, number>
  /** Nothing was ever fetched into it. */
  readonly isNew: boolean
}

/** Keeps some scratch repositories after their use, so that the next commit of the same repository brings only what is new. */
export interface ScratchPool {
  /** One that holds earlier commits of the repository where there is one that nobody uses; else a new one. */
  take(key: string): Promise<Scratch>
  takeNew(): Promise<Scratch>
  /** Ends the use; `commit` is what the next fetch goes on from. */
  give(key: string, scratch: Scratch, commit: string): Promise<void>
  remove(scratch: Scratch): Promise<void>
  close(): Promise<void>
}

const KEPT = 32
const KEPT_BYTES = 512 * 1024 * 1024
const BYTES = 128 * 1024 * 1024
const SIZES = 200_000
/** Every fetch adds a pack, and a commit at which the history is cut off. */
const USES = 20
const MARK = 'refs/mountglass/last'

interface Held extends Scratch {
  uses: number
  bytes: number
  remove(): Promise<void>
}

export function createScratchPool(): ScratchPool {
  /** The one given back last stands at the end. */
  const idle = new Map<string, Held>()
  const inUse = new Map<Scratch, Held>()
  let isClosed = false

  async function open(): Promise<Scratch> {
    const { gitDir, remove } = await openScratch()
    return lend({ gitDir, remove, sizes: new Map(), isNew: true, uses: 0, bytes: 0 })
  }

  function lend(held: Held): Scratch {
    const scratch: Scratch = { gitDir: held.gitDir, sizes: held.sizes, isNew: held.uses === 0 }
    inUse.set(scratch, held)
    return scratch
  }

  async function remove(scratch: Scratch): Promise<void> {
    const held = inUse.get(scratch)
    inUse.delete(scratch)
    await held?.remove()
  }

  /** Whether there is anything to gain from keeping it. */
  async function settle(held: Held, commit: string): Promise<boolean> {
    if (isClosed || ++held.uses > USES || held.sizes.size > SIZES) return false
    try {
      await runGit(['update-ref', MARK, commit], { gitDir: held.gitDir })
      held.bytes = await packedBytes(held.gitDir)
      return held.bytes <= BYTES
    } catch {
      return false
    }
  }

  return {
    async take(key) {
      const held = idle.get(key)
      if (!held) return open()
      idle.delete(key)
      return lend(held)
    },
    takeNew: open,
    remove,

    async give(key, scratch, commit) {
      const held = inUse.get(scratch)
      if (!held) return
      if (!(await settle(held, commit))) return remove(scratch)
      inUse.delete(scratch)
      const before = idle.get(key)
      idle.delete(key)
      idle.set(key, held)
      const dropped = before ? [before] : []
      let bytes = [...idle.values()].reduce((sum, one) => sum + one.bytes, 0)
      for (const [oldest, one] of idle) {
        if (idle.size <= KEPT && bytes <= KEPT_BYTES) break
        idle.delete(oldest)
        bytes -= one.bytes
        dropped.push(one)
      }
      await Promise.all(dropped.map(one => one.remove()))
    },

    async close() {
      isClosed = true
      const all = [...idle.values()]
      idle.clear()
      await Promise.all(all.map(one => one.remove()))
    },
  }
}

async function packedBytes(gitDir: string): Promise<number> {
  const folder = join(gitDir, 'objects/pack')
  const sizes = await Promise.all((await readdir(folder)).map(async name => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
