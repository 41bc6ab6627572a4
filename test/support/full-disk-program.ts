/** `<folder>`: fills the disk of the folder through the stores, and prints as JSON what then became of writes and of what was there. */

import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { bytesOf } from './store-values.ts'

const [folder = ''] = process.argv.slice(2)
const file = join(folder, 'documents.sqlite')
const ballast = join(folder, 'ballast')
const open = async () => ({ blobs: await openDiskBlobStore(folder), states: await openDiskStateStore(file) })

const found: Record<string, unknown> = {}
let { blobs, states } = await open()
await blobs.create('kept/object', bytesOf('kept/object'))
await states.create('kept/document', 'x'.repeat(50_000))
const etag = (await states.read('kept/document'))?.etag ?? ''

// An object does not fit any more, a document still may.
const acknowledged: string[] = []
found.lastObject = await untilRefused(async turn => {
  await blobs.create(`many/${turn}`, bytesOf(`many/${turn}`))
  acknowledged.push(`many/${turn}`)
})
found.leftovers = readdirSync(join(folder, 'tmp'))
found.objects = await stateOf(blobs, acknowledged)

// Now nothing fits.
fillUp()
found.object = await refusalOf(() => blobs.create('late/object', Buffer.alloc(100_000)))
found.document = await untilRefused(turn => states.create(`late/${turn}`, 'y'.repeat(100_000)))
found.replace = await refusalOf(() => states.replace('kept/document', 'z'.repeat(500_000), etag))
found.kept = await keptIn(blobs, states)
found.objectsOfFullDisk = await stateOf(blobs, acknowledged)

// Another process begins on the full disk, and room is made for it.
await Promise.all([blobs.close(), states.close()])
fillUp()
;({ blobs, states } = await open())
found.keptAtNextOpening = await keptIn(blobs, states)
rmSync(ballast)
await blobs.remove(acknowledged[0] ?? '')
found.withRoom = [
  await blobs.create('late/object', Buffer.alloc(10_000)),
  (await states.replace('kept/document', 'new', etag)).status,
]
await Promise.all([blobs.close(), states.close()])
const database = new DatabaseSync(file)
found.integrity = database.prepare('PRAGMA integrity_check').get()?.integrity_check
database.close()
process.stdout.write(JSON.stringify(found))

async function untilRefused(write: (turn: number) => Promise<unknown>): Promise<string> {
  for (let turn = 0; turn < 1_000; turn++) {
    const refusal = await refusalOf(() => write(turn))
    if (refusal !== 'done') return refusal
  }
  return 'never refused'
}

async function refusalOf(write: () => Promise<unknown>): Promise<string> {
  try {
    await write()
    return 'done'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}

/** Whether the store has exactly what it acknowledged, whole. */
async function stateOf(store: BlobStore, keys: readonly string[]): Promise<string> {
  const there = await store.list('many/')
  if (there.join() !== keys.toSorted().join()) return `there is ${there.join()}`
  for (const key of keys) {
    if (!Buffer.from(bytesOf(key)).equals((await store.read(key))?.bytes ?? new Uint8Array())) return `damaged: ${key}`
  }
  return 'as acknowledged'
}

async function keptIn(objects: BlobStore, documents: StateStore): Promise<string> {
  const object = await objects.read('kept/object')
  const document = await documents.read('kept/document')
  if (!Buffer.from(bytesOf('kept/object')).equals(object?.bytes ?? new Uint8Array())) return 'the object is damaged'
  if (document?.value !== 'x'.repeat(50_000) || document.etag !== etag) return 'the document is damaged'
  return 'whole'
}

/** Takes what room is left, to the last byte. */
function fillUp(): void {
  for (let bytes = 1024 * 1024; bytes >= 1; bytes /= 4) {
    try {
      for (;;) writeFileSync(ballast, Buffer.alloc(bytes), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
