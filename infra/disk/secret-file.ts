import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createFile, hasCode, makeFolder, syncFolder } from './durable.ts'

/**
 * The text of a secret file, trimmed: empty where a full disk or a power cut left nothing. Creates the file if it is missing, readable by its
 * owner alone; processes that start at the same time get the same secret.
 *
 * @throws Error when the new secret is empty
 */
export async function readOrCreateSecret(file: string, generate: () => string): Promise<string> {
  const path = resolve(file)
  const found = await readText(path)
  if (found !== null) return found.trim()
  const secret = requireText(generate())
  await makeFolder(dirname(path))
  await createFile({ path, temporary: `${path}.${randomUUID()}`, bytes: Buffer.from(`${secret}\n`), mode: 0o600 })
  // Read again: another process may have created the file first.
  return (await readFile(path, 'utf8')).trim()
}

/**
 * Replaces the text of a secret file in one step: readers see the old text or the new one, also after a crash. The file keeps its owner.
 *
 * @param change receives the text, trimmed; what it throws changes nothing
 * @returns whether there was a file
 * @throws Error when another process is replacing it
 */
export async function replaceSecret(file: string, change: (text: string) => string): Promise<boolean> {
  const path = resolve(file)
  if ((await readText(path)) === null) return false
  // Its name admits one process at a time, from reading to replacing.
  const temporary = `${path}.next`
  const handle = await openNext(temporary)
  try {
    try {
      await keepOwner(path, handle)
      const text = requireText(change((await readFile(path, 'utf8')).trim()))
      await handle.writeFile(`${text}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  await syncFolder(dirname(path))
  return true
}

async function openNext(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    throw new Error(`another process is replacing the secret; if none is, one was interrupted: remove ${path}`)
  }
}

/** An administrator may run the command, and the service reads the file. */
async function keepOwner(path: string, next: FileHandle): Promise<void> {
  const [old, { uid }] = await Promise.all([stat(path), next.stat()])
  if (old.uid !== uid) await next.chown(old.uid, old.gid)
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

// An empty secret protects nothing.
function requireText(text: string): string {
  const secret = text.trim()
  if (secret === '') throw new Error('the new secret is empty')
  return secret
}
