import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { memoryOfEntry } from '#core/memory.ts'

/** How the log names repositories: in clear only those that were answered as public. */
export interface LogRedaction {
  /** Notes that the repository was answered as public. */
  notePublic(name: NamedRepository): void
  /** Notes that the host does not show the repository to anonymous requests. */
  noteHidden(name: NamedRepository): void
  isPublic(name: NamedRepository): boolean
  /** The same text for the same repository in all processes of the deployment, from which its name cannot be told or guessed. */
  hashOf(name: NamedRepository): string
}

interface NamedRepository {
  host: string
  owner: string
  repository: string
}

/** Names of some ten thousand repositories. One that was evicted is logged by its hash until it is answered again. */
const NAMES_BYTES = 2 * 1024 * 1024
const HASH_CHARACTERS = 16

/** @param key of the deployment, for this purpose alone */
export function createLogRedaction(key: Uint8Array): LogRedaction {
  const shown = new LRUCache<string, true>({ maxSize: NAMES_BYTES, sizeCalculation: memoryOfEntry })
  return {
    notePublic(name) {
      const text = textOf(name)
      if (!shown.has(text)) shown.set(text, true)
    },
    noteHidden(name) {
      shown.delete(textOf(name))
    },
    isPublic: name => shown.has(textOf(name)),
    hashOf: name => `h_${createHmac('sha256', key).update(textOf(name)).digest('base64url').slice(0, HASH_CHARACTERS)}`,
  }
}

function textOf({ host, owner, repository }: NamedRepository): string {
  return `${host}/${owner}/${repository}`.toLowerCase()
}
