import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { BlobSelection, HostRepository, RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import { type CommitSha, Location, type SnapshotHeader } from '#core/snapshot/format.ts'
import { metBlobsKey, packKey } from '#core/snapshot/keys.ts'
import { encodeText } from '#core/text.ts'
import type { PackWriter } from './snapshot-writer.ts'

/**
 * What indexing a commit has learnt of its blobs, for the next commit: those that lie in the packs are read from there, those that nobody
 * read need not be brought. So a host over a network is asked for what changed. It changes nothing of what is written: bytes are the same
 * wherever they come from, since their id tells.
 */
export interface MetBlobs {
  /** The selection, knowing what need not be brought. */
  select(selection: BlobSelection): BlobSelection
  /** The reader, with what need not be brought. */
  read(reader: RepositoryReader): RepositoryReader
  /** The writer, watched for where blobs come to lie. */
  write(writer: PackWriter): PackWriter
  /** Leaves the note for the next commit. A store that fails only costs that one time. */
  note(commit: CommitSha, header: SnapshotHeader): Promise<void>
}

/** `[oid, size]`: nobody read it. `[oid, size, location]`: it lies in a pack. Blobs that were read and not kept are not noted. */
const MetBlob = z.union([z.tuple([z.string(), z.int().min(0), Location]), z.tuple([z.string(), z.int().min(0)])])
const Note = z.object({ packs: z.array(z.string()), blobs: z.array(MetBlob) })

/** What the note of the largest tree unpacks to is half of it. */
const NOTE_BYTES = 64 * 1024 * 1024

/** @param last the commit that was indexed last; `null`: everything is brought */
export function createMetBlobs(blobs: BlobStore, repository: HostRepository, last: CommitSha | null): MetBlobs {
  const met = new Map<string, number>()
  const read = new Set<string>()
  const locations = new Map<string, Location>()
  let held: HeldBlobs | null = null

  async function* entriesOf(reader: RepositoryReader): AsyncGenerator<TreeEntry> {
    for await (const entry of reader.entries()) {
      const sizeBytes = entry.sizeBytes ?? held?.sizeOf(entry.oid) ?? null
      if (sizeBytes !== null) met.set(entry.oid, sizeBytes)
      yield { ...entry, sizeBytes }
    }
  }

  async function* readFrom(reader: RepositoryReader, oids: Iterable<string>, maxBytes: number) {
    const asked = [...oids]
    for (const oid of asked) read.add(oid)
    const isHeld = (oid: string) => held?.isKept(oid) === true
    const others = reader
      .read(
        asked.filter(oid => !isHeld(oid)),
        maxBytes,
      )
      [Symbol.asyncIterator]()
    try {
      for (const [index, oid] of asked.entries()) {
        const bytes = isHeld(oid) ? await held?.bytesOf(oid) : ((await others.next()).value as Read | undefined)?.bytes
        if (bytes === undefined) {
          // The store has lost a pack, or damaged it: from here on the host is asked.
          held = null
          yield* reader.read(asked.slice(index), maxBytes)
          return
        }
        yield { oid, bytes: bytes && bytes.length > maxBytes ? null : bytes }
      }
    } finally {
      await others.return?.(undefined)
    }
  }

  return {
    select: selection => ({
      ...selection,
      async heldAmong(oids) {
        held ??= last === null ? null : await readNote(blobs, repository, last)
        return new Set(oids.filter(oid => held !== null && held.sizeOf(oid) !== null))
      },
    }),

    read: reader => ({
      entries: () => entriesOf(reader),
      get cut() {
        return reader.cut
      },
      read: (oids, maxBytes) => readFrom(reader, oids, maxBytes),
      close: () => reader.close(),
    }),

    write: writer => ({
      ...writer,
      async addRecord(bytes) {
        const oid = oidOf(bytes)
        const location = await writer.addRecord(bytes)
        locations.set(oid, location)
        return location
      },
    }),

    async note(commit, { packs }) {
      const found = [...met].flatMap(([oid, size]): z.infer<typeof MetBlob>[] => {
        const location = locations.get(oid)
        return location ? [[oid, size, location]] : read.has(oid) ? [] : [[oid, size]]
      })
      const note: z.infer<typeof Note> = { packs: packs.map(({ name }) => name), blobs: found }
      await blobs.create(metBlobsKey(repository, commit), gzipSync(encodeText(JSON.stringify(note)))).catch(() => {})
    },
  }
}

type Read = { oid: string; bytes: Uint8Array | null }

interface HeldBlobs {
  sizeOf(oid: string): number | null
  isKept(oid: string): boolean
  /** `undefined`: it cannot be read. */
  bytesOf(oid: string): Promise<Uint8Array | undefined>
}

/** Packs held at once while their records are read: they lie in the order in which they are asked for. */
const HELD_PACKS = 3

async function readNote(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<HeldBlobs | null> {
  try {
    const stored = await blobs.read(metBlobsKey(repository, commit))
    if (stored === null) return null
    const note = Note.parse(JSON.parse(gunzipSync(stored.bytes, { maxOutputLength: NOTE_BYTES }).toString()))
    const noted = new Map(note.blobs.map(([oid, size, location]) => [oid, { size, location }]))
    const packs = new Map<string, Promise<Uint8Array | null>>()

    const packOf = (name: string): Promise<Uint8Array | null> => {
      const pack = packs.get(name) ?? blobs.read(packKey(repository, name)).then(found => found?.bytes ?? null)
      packs.delete(name)
      packs.set(name, pack)
      for (const oldest of packs.keys()) if (packs.size > HELD_PACKS) packs.delete(oldest)
      return pack
    }

    return {
      sizeOf: oid => noted.get(oid)?.size ?? null,
      isKept: oid => noted.get(oid)?.location !== undefined,
      async bytesOf(oid) {
        const { size, location } = noted.get(oid) ?? {}
        if (size === undefined || location === undefined) return undefined
        const [index, offset, length] = location
        try {
          const pack = await packOf(note.packs[index] ?? '')
          const bytes = gunzipSync(pack?.subarray(offset, offset + length) ?? NOTHING, { maxOutputLength: Math.max(1, size) })
          return oidOf(bytes) === oid ? bytes : undefined
        } catch {
          return undefined
        }
      },
    }
  } catch {
    return null
  }
}

const NOTHING = new Uint8Array()

/** The id that git gives a blob. */
function oidOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
