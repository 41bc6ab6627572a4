import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createFile, hasCode, makeFolder } from './durable.ts'

/**
 * The text of a secret file, trimmed. Creates the file if it is missing, readable by its owner alone;
 * processes that start at the same time get the same secret.
 *
 * @throws Error when the secret is empty
 */
export async function readOrCreateSecret(file: string, generate: () => string): Promise<string> {
  const path = resolve(file)
  const found = await readText(path)
  if (found !== null) return requireText(found)
  const secret = requireText(generate())
  await makeFolder(dirname(path))
  await createFile({ path, temporary: `${path}.${randomUUID()}`, bytes: Buffer.from(`${secret}\n`), mode: 0o600 })
  // Read again: another process may have created the file first.
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

// An empty secret protects nothing.
function requireText(text: string): string {
  const secret = text.trim()
  if (secret === '') throw new Error('the secret is empty: remove its file, and the next start creates a new one')
  return secret
}
