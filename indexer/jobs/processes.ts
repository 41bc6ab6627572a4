import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'

/** Reads what process trees use, lowers their priority and kills them. Memory, processor time and children are known on Linux only. */

/** Memory in bytes. */
export interface HeldMemory {
  /** Resident memory of the process. */
  own: number
  /** Memory of its descendants, without mapped files: git maps packs of any size, and the system can reclaim those pages. */
  below: number
}

/** The memory of a process and its descendants; `null` when the system does not tell. */
export async function readHeldBytes(pid: number): Promise<HeldMemory | null> {
  const own = (await readStatus(pid)).VmRSS
  if (own === undefined) return null
  const below = await Promise.all((await readChildren(pid)).map(readUnsharedBytes))
  return { own, below: sum(below) }
}

/** Of the clock in which Linux tells the processor time of processes, whatever its own clock is. */
const TICKS_A_SECOND = 100

/** Processor time of a process, and of its children that ended; 0 when the system does not tell. */
export async function readProcessorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The program name, in brackets, may contain spaces and brackets.
  const fields = stat.replace(/^.*\)/s, '').trim().split(' ')
  return sum(fields.slice(11, 15).map(Number)) / TICKS_A_SECOND
}

/**
 * The main thread of a process yields, unless this one yields more, and all that it starts from now on.
 *
 * On Linux each thread has a priority of its own. The other threads are not touched, since that takes a look at `/proc/<pid>/task`, which makes the
 * kernel keep an entry for each. A thread that ends removes its entry at its own low priority. Until it has had its turn, the kernel lets nobody
 * reap the process, and the event loop of the worker would spin in `wait4`: for seconds on a busy processor. Decision 0135.
 */
export function yieldBy(pid: number, niceness: number): void {
  try {
    setPriority(pid, Math.max(getPriority(), niceness))
  } catch {
    // It ended already, or this system knows no priorities.
  }
}

async function readUnsharedBytes(pid: number): Promise<number> {
  const [{ RssAnon, RssShmem = 0, VmRSS = 0 }, children] = await Promise.all([readStatus(pid), readChildren(pid)])
  // Some systems report VmRSS without the other two.
  const own = RssAnon === undefined ? VmRSS : RssAnon + RssShmem
  return own + sum(await Promise.all(children.map(readUnsharedBytes)))
}

/** Sizes in bytes by name; empty when the process is gone. */
async function readStatus(pid: number): Promise<Partial<Record<string, number>>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const sizes = [...status.matchAll(/^(\w+):\s+(\d+) kB$/gm)]
  return Object.fromEntries(sizes.map(([, name, kibibytes]) => [name, Number(kibibytes) * 1024]))
}

/**
 * Children that the main thread started; neither Node nor git starts processes from other threads. A process that starts or ends meanwhile may
 * be missing. `descendantsOf` reads every process of the machine, which is too slow to repeat several times a second.
 */
async function readChildren(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return (children.match(/\d+/g) ?? []).map(Number)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Kills a process and its descendants: a git that waits for the network would outlive its parent. */
export function killTree(pid: number): void {
  // Stopped first, so that it starts no process meanwhile; a process cannot stop itself and go on.
  if (pid !== process.pid) signal(pid, 'SIGSTOP')
  for (const one of [...descendantsOf(pid), pid]) signal(one, 'SIGKILL')
}

/** Process ids of all descendants. Synchronous, for a process that is about to exit. */
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
    // The program name, in brackets, may contain spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ')
    return Number(fields[1])
  } catch {
    return null // the process has just ended
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has just ended.
  }
}
