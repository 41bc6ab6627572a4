import { execFile } from 'node:child_process'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SOURCES = ['site', 'core', 'astro.config.mjs', 'package.json', 'tsconfig.json']
const OUTPUT = 'dist/server/entry.mjs'
const LOCK = '.astro/build.lock'

/** Builds the site once when its sources are newer than what was built; test files that run at the same time wait for one another. */
export async function ensureBuilt(): Promise<void> {
  if (await isFresh()) return
  await mkdir(join(ROOT, '.astro'), { recursive: true })
  const lock = await takeLock()
  try {
    if (await isFresh()) return
    const astro = join(ROOT, 'node_modules/astro/bin/astro.mjs')
    const environment = { ...process.env, NODE_ENV: 'production', ASTRO_TELEMETRY_DISABLED: '1' }
    await promisify(execFile)(process.execPath, [astro, 'build'], { cwd: ROOT, env: environment })
  } finally {
    await lock.close()
    await rm(join(ROOT, LOCK), { force: true })
  }
}

async function takeLock() {
  for (;;) {
    try {
      const file = await open(join(ROOT, LOCK), 'wx')
      await file.writeFile(String(process.pid))
      return file
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (!(await isHeld())) await rm(join(ROOT, LOCK), { force: true })
      await delay(50)
    }
  }
}

/** Whether the process that took the lock still runs; one that just took it may not have written its id yet. */
async function isHeld(): Promise<boolean> {
  try {
    const holder = await readFile(join(ROOT, LOCK), 'utf8')
    if (holder !== '') process.kill(Number(holder), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function isFresh(): Promise<boolean> {
  const built = await stat(join(ROOT, OUTPUT)).catch(() => null)
  if (built === null) return false
  const changed = await Promise.all(SOURCES.map(source => newestChange(join(ROOT, source))))
  return Math.max(...changed) <= built.mtimeMs
}

async function newestChange(path: string): Promise<number> {
  const found = await stat(path)
  if (!found.isDirectory()) return found.mtimeMs
  const inside = await Promise.all((await readdir(path)).map(name => newestChange(join(path, name))))
  return Math.max(found.mtimeMs, ...inside)
}
