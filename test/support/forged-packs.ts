import { deflateSync } from 'node:zlib'
import { bytesOf, text } from './git-objects.ts'
import { packedHeader, storePack, TYPES } from './packs.ts'
import type { TestRepository } from './repository.ts'

/*
 * Packs whose index lists objects under ids of other objects. Git believes the index.
 */

/** The objects on the way from a commit to its file `folder/file.md`. */
export const FORGED_KINDS = ['commit', 'tree', 'folder', 'file'] as const

/** Puts another object into the place of one on the way to `folder/file.md`, so that git reads `forged` there. */
export async function forgeObject(
  repository: TestRepository,
  commit: string,
  kind: (typeof FORGED_KINDS)[number],
): Promise<void> {
  const file = await repository.writeBlob('forged')
  const folder = treeOf('100644 file.md', file)
  const tree = treeOf('40000 folder', await repository.writeObject('tree', folder))
  const person = 'Somebody <somebody@example.org> 1700000000 +0000'
  const body = `tree ${await repository.writeObject('tree', tree)}\nauthor ${person}\ncommitter ${person}\n\nForged\n`
  const forged: Record<typeof kind, ForgedObject> = {
    commit: { oid: commit, type: 'commit', body },
    tree: { oid: await repository.oidAt(commit, ''), type: 'tree', body: tree },
    folder: { oid: await repository.oidAt(commit, 'folder'), type: 'tree', body: folder },
    file: { oid: await repository.oidAt(commit, 'folder/file.md'), type: 'blob', body: 'forged' },
  }
  await storeForgedPack(repository.gitDir, [forged[kind]])
}

function treeOf(entry: string, oid: string): Uint8Array {
  return Buffer.concat([text(`${entry}\0`), Buffer.from(oid, 'hex')])
}

/** An object that the index of a forged pack lists under an id, whatever its bytes are. */
export interface ForgedObject {
  oid: string
  type: keyof typeof TYPES
  body: string | Uint8Array
}

/** Git finds these objects before loose ones, and before those of older packs. */
export async function storeForgedPack(gitDir: string, objects: readonly ForgedObject[]): Promise<void> {
  const packed = objects.map(({ oid, type, body }) => {
    const bytes = bytesOf(body)
    return { oid, bytes: Buffer.concat([packedHeader(TYPES[type], bytes.length), deflateSync(bytes, { level: 1 })]) }
  })
  await storePack(gitDir, packed)
}
