import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Looks at processes of the machine, and ends them with what they have started. What only Linux tells is unknown elsewhere. */

/** Memory in bytes. */
export interface HeldMemory {
  /** Resident memory of the process. */
  own: number
  /** What those hold that came from it. Files that they only look into do not count: git maps packs of any size, and the system takes those back. */
  below: number
}

/** Memory that a process and all that came from it hold; `null` when nobody tells. */
export async function readHeldBytes(pid: number): Promise<HeldMemory | null> {
  const own = (await readStatus(pid)).VmRSS
  if (own === undefined) return null
  const below = await Promise.all((await readChildren(pid)).map(readUnsharedBytes))
  return { own, below: sum(below) }
}

async function readUnsharedBytes(pid: number): Promise<number> {
  const [{ RssAnon, RssShmem = 0, VmRSS = 0 }, children] = await Promise.all([readStatus(pid), readChildren(pid)])
  // Not every system that has the one tells the other two.
  const own = RssAnon === undefined ? VmRSS : RssAnon + RssShmem
  return own + sum(await Promise.all(children.map(readUnsharedBytes)))
}

/** Sizes in bytes, by their names. Empty for a process that is gone. */
async function readStatus(pid: number): Promise<Partial<Record<string, number>>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const sizes = [...status.matchAll(/^(\w+):\s+(\d+) kB$/gm)]
  return Object.fromEntries(sizes.map(([, name, kibibytes]) => [name, Number(kibibytes) * 1024]))
}

/**
 * What the process itself started, but for what a thread of it did: neither we nor git start anything there. One that begins or ends just now may be
 * missing. A look at all processes of the machine, as `descendantsOf` takes it, would cost too much several times a second.
 */
async function readChildren(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return (children.match(/\d+/g) ?? []).map(Number)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Ends a process of ours and all that came from it at once: a git that it started may wait for the network, and would outlive it. */
export function killTree(pid: number): void {
  // Stopped first, so that it starts nothing more while it is looked at. Whoever kills itself cannot.
  if (pid !== process.pid) signal(pid, 'SIGSTOP')
  for (const one of [...descendantsOf(pid), pid]) signal(one, 'SIGKILL')
}

/** Synchronous, so that it can be asked by a process that is about to end. */
export function descendantsOf(pid: number): number[] {
  const children = Map.groupBy(readParents(), ({ parent }) => parent)
  const found: number[] = []
  for (let next: number[] = [pid]; next.length > 0; ) {
    next = next.flatMap(parent => (children.get(parent) ?? []).map(child => child.pid))
    found.push(...next)
  }
  return found
}

function readParents(): { pid: number; parent: number }[] {
  try {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .flatMap(name => {
        const parent = parentOf(name)
        return parent === null ? [] : [{ pid: Number(name), parent }]
      })
  } catch {
    return []
  }
}

function parentOf(pid: string): number | null {
  try {
    // The name of the program stands in brackets, and may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ')
    return Number(fields[1])
  } catch {
    return null // it has just ended
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has just ended.
  }
}
