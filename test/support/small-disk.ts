import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PROGRAM = fileURLToPath(new URL('./full-disk-program.ts', import.meta.url))

/** Mounts a disk of some megabytes that only the process behind it sees, and that goes with it. */
const MOUNT = ['--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"', 'sh']

/** Whether this user may have a small disk. Where not, tests of a full one are left out, and the run says so. */
export function hasSmallDisks(): boolean {
  try {
    execFileSync('unshare', [...MOUNT, '1m', '/tmp', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs a program of Node on a small disk, and gives what it prints as JSON. @param folder where the disk is mounted: any empty one */
export async function runOnSmallDisk(folder: string, size: string, args: readonly string[]): Promise<unknown> {
  const env = { ...process.env, TMPDIR: folder }
  const { stdout } = await promisify(execFile)('unshare', [...MOUNT, size, folder, process.execPath, ...args], { env })
  return JSON.parse(stdout)
}

/** Runs `full-disk-program.ts` on a disk of its own, and gives what it found out. @param folder where the disk is mounted: any empty one */
export function fillDisk(folder: string): Promise<unknown> {
  return runOnSmallDisk(folder, '6m', [PROGRAM, folder])
}
