import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Looks at processes of the machine, and ends them with what they have started. What only Linux tells is unknown elsewhere. */

/** Memory that a process holds, in bytes; `null` when nobody tells. */
export async function readResidentBytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? null : Number(kibibytes) * 1024
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
