/** One set-up at a time in one checkout. */
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The holder touches the file every second. A file that is older than this is stale. */
const STALE_AFTER_MS = 10_000

/**
 * Runs `work` under the lock of the checkout, after waiting for its holder.
 *
 * @template T
 * @param {string} root
 * @param {() => Promise<T>} work
 * @param {() => void} onWait called once when another process is at it
 * @returns {Promise<T>}
 */
export async function alone(root, work, onWait) {
  const file = join(root, '.setup.lock')
  for (let tries = 0; !(await take(file)); tries += 1) {
    if (tries === 0) onWait()
    await new Promise(resolve => setTimeout(resolve, 250))
  }
  const heartbeat = setInterval(() => utimes(file, new Date(), new Date()).catch(() => {}), 1000)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    await rm(file, { force: true })
  }
}

/** @param {string} file */
async function take(file) {
  try {
    await writeFile(file, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  await dropStale(file)
  return false
}

/**
 * Renames the stale file before it removes it: if several processes find it stale, one renames it, and none removes a newer file of the name.
 *
 * @param {string} file
 */
async function dropStale(file) {
  const touched = await stat(file).catch(() => null)
  if (touched === null || Date.now() - touched.mtimeMs < STALE_AFTER_MS) return
  const owner = await readFile(file, 'utf8').catch(() => '')
  const aside = `${file}.${process.pid}`
  if (
    await rename(file, aside).then(
      () => true,
      () => false,
    )
  ) {
    if ((await readFile(aside, 'utf8')) === owner) await rm(aside, { force: true })
    else await rename(aside, file)
  }
}
