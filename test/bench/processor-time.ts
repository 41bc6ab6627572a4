import { readFileSync } from 'node:fs'

/** What a thread did so far, in milliseconds (Linux). */
export interface ThreadTime {
  /** It had a processor. */
  ran: number
  /** It could have run, but others had the processors. */
  queued: number
}

/** The main thread of a process: that of its event loop. Zeros where the system does not tell. */
export function mainThreadTime(pid: number): ThreadTime {
  const [ran = 0, queued = 0] = readNumbers(`/proc/${pid}/task/${pid}/schedstat`)
  return { ran: ran / NANOSECONDS, queued: queued / NANOSECONDS }
}

/** What a service and the processes below it used so far. */
export interface ServiceTime {
  main: ThreadTime
  /** Milliseconds of processor time of its other threads: compiler, garbage collector, file system, rendering. */
  otherThreads: number
  /** Milliseconds of processor time of its processes for jobs, of git and of all others below it, those included that ended. */
  below: number
  /** Processes and threads that the machine started. */
  starts: number
}

const NANOSECONDS = 1_000_000
/** Of the clock in which Linux tells the processor time of processes, whatever its own clock is. */
export const TICK_MS = 10

/** @param pid of the service */
export function serviceTime(pid: number): ServiceTime {
  const main = mainThreadTime(pid)
  const own = processTicks(pid)
  const below = processesBelow(pid).map(child => processTicks(child))
  return {
    main,
    otherThreads: own.self * TICK_MS - main.ran,
    below: (own.ended + below.reduce((sum, { self, ended }) => sum + self + ended, 0)) * TICK_MS,
    starts: Number(/^processes (\d+)$/m.exec(read('/proc/stat'))?.[1] ?? 0),
  }
}

/** What the disks of the machine were told so far: to hold what was written to them, whatever happens. */
export function diskFlushes(): { count: number; milliseconds: number } {
  const disks = read('/proc/diskstats').split('\n')
  const fields = disks.map(line => line.trim().split(/\s+/).slice(18, 20).map(Number))
  const sum = (place: number) => fields.reduce((total, disk) => total + (disk[place] ?? 0), 0)
  return { count: sum(0), milliseconds: sum(1) }
}

/** For which a processor was busy so far. */
export function processorTicks(processor: number): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    new RegExp(`^cpu${processor} (.*)$`, 'm').exec(read('/proc/stat'))?.[1] ?? ''
  )
    .split(' ')
    .map(Number)
  return user + nice + system + irq + softirq + steal
}

/** `ended`: of its children that ended. */
function processTicks(pid: number): { self: number; ended: number } {
  const stat = read(`/proc/${pid}/stat`)
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return { self: user + system, ended: endedUser + endedSystem }
}

/** Children of main threads. Who lists the threads of a process makes its end expensive for its parent: see `yieldBy`. */
function processesBelow(pid: number): number[] {
  const children = readNumbers(`/proc/${pid}/task/${pid}/children`)
  return [...children, ...children.flatMap(processesBelow)]
}

function readNumbers(path: string): number[] {
  return read(path).split(' ').filter(Boolean).map(Number)
}

/** Empty for a process that ended, and where the system does not tell. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
