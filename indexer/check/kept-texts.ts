import type { RepositoryReader } from '#core/ports/git-host.ts'
import { decodeText } from '#core/text.ts'
import { MANIFEST_FILE } from '../rules/manifest.ts'
import { SKILL_FILE } from '../rules/skill.ts'

/** A reader that keeps the skills and manifests read through it: a snapshot holds what is delivered, an author wants the line of anything. */
export interface KeptTexts extends RepositoryReader {
  /** `null`: no such file, or it was not read as text. */
  textOf(path: string): string | null
}

export function keepTexts(reader: RepositoryReader): KeptTexts {
  const oids = new Map<string, string>()
  const kept = new Map<string, Uint8Array | null>()
  return {
    get cut() {
      return reader.cut
    },
    async *entries() {
      for await (const entry of reader.entries()) {
        if (entry.path !== null && isKept(entry.path)) {
          oids.set(entry.path, entry.oid)
          kept.set(entry.oid, null)
        }
        yield entry
      }
    },
    async *read(wanted, maxBytes) {
      for await (const answer of reader.read(wanted, maxBytes)) {
        if (answer.bytes !== null && kept.has(answer.oid)) kept.set(answer.oid, answer.bytes)
        yield answer
      }
    },
    close: () => reader.close(),
    textOf(path) {
      const bytes = kept.get(oids.get(path) ?? '')
      return bytes ? decodeText(bytes) : null
    },
  }
}

function isKept(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name === SKILL_FILE || name === MANIFEST_FILE
}
