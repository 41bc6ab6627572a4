import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createFile, hasCode, makeFolder } from './durable.ts'

/**
 * The text of a secret file, without white space at its ends. Made once, readable by its owner alone;
 * processes that start at the same time all get the same one.
 *
 * @throws Error when it is empty
 */
export async function readOrCreateSecret(file: string, make: () => string): Promise<string> {
  const path = resolve(file)
  const found = await readText(path)
  if (found !== null) return requireText(found)
  const made = requireText(make())
  await makeFolder(dirname(path))
  await createFile({ path, temporary: `${path}.${randomUUID()}`, bytes: Buffer.from(`${made}\n`), mode: 0o600 })
  // Another process may have been first.
  return requireText(await readFile(path, 'utf8'))
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

// An empty secret would seal nothing.
function requireText(text: string): string {
  const secret = text.trim()
  if (secret === '') throw new Error('the secret is empty: remove its file to have a new one made')
  return secret
}
