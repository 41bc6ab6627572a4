import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a process and its children hold on this machine (Linux). */
export interface Footprint {
  /** Resident memory of the process itself. */
  megabytes: number
  /** Its open files and sockets. */
  descriptors: number
  /** Of its open files, the sockets. */
  sockets: number
  /** git processes below it. */
  gitProcesses: number
  /** Resident memory of these. */
  gitMegabytes: number
}

const EVERY_MS = 50

/** Looks at a process again and again until `stop`, which gives the largest figures. */
export function watchFootprint(pid: number): { stop(): Promise<Footprint> } {
  let peak: Footprint | null = null
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      peak = larger(peak, await footprintOf(pid))
      await sleep(EVERY_MS)
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      return larger(peak, await footprintOf(pid))
    },
  }
}

export async function footprintOf(pid: number): Promise<Footprint> {
  const [megabytes, descriptors, gits] = await Promise.all([residentMegabytes(pid), descriptorsOf(pid), gitsBelow(pid)])
  const gitMegabytes = await Promise.all(gits.map(residentMegabytes))
  return {
    megabytes,
    descriptors: descriptors.length,
    sockets: descriptors.filter(target => target.startsWith('socket:')).length,
    gitProcesses: gits.length,
    gitMegabytes: gitMegabytes.reduce((sum, one) => sum + one, 0),
  }
}

function larger(left: Footprint | null, right: Footprint): Footprint {
  if (left === null) return right
  const keys = Object.keys(right) as (keyof Footprint)[]
  return Object.fromEntries(keys.map(key => [key, Math.max(left[key], right[key])])) as unknown as Footprint
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024)
}

async function descriptorsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  return Promise.all(names.map(name => readlink(`${folder}/${name}`).catch(() => '')))
}

/** Processes named `git` whose ancestor is `pid`. */
async function gitsBelow(pid: number): Promise<number[]> {
  const names = await readdir('/proc')
  const processes = await Promise.all(names.filter(name => /^\d+$/.test(name)).map(readProcess))
  const byPid = new Map(processes.flatMap(one => (one ? [[one.pid, one] as const] : [])))
  const isBelow = (child: number): boolean => {
    const parent = byPid.get(child)?.parent
    return parent !== undefined && (parent === pid || isBelow(parent))
  }
  return [...byPid.values()].filter(one => one.name === 'git' && isBelow(one.pid)).map(one => one.pid)
}

async function readProcess(pid: string): Promise<{ pid: number; name: string; parent: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const match = /^(\d+) \((.*)\) \S (\d+)/s.exec(stat)
  return match ? { pid: Number(match[1]), name: match[2] ?? '', parent: Number(match[3]) } : null
}
