import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LOCAL_PACKED_REFS_BYTES, LOCAL_REFS } from '#core/limits.ts'
import { MAP_ENTRY_BYTES, memoryOfText } from '#core/memory.ts'
import { detached } from '#core/text.ts'
import { ifAbsent, openReal } from '../git/safe-open.ts'
import { NotSelfContained, ViewTooLarge } from './object-files.ts'
import { type Computed, StatCache } from './stat-cache.ts'

/** Memory of the refs of all repositories. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Bytes that are parsed between two turns of the event loop. */
const PIECE_BYTES = 64 * 1024
const LINE = /^([0-9a-f]{40}) (refs\/(?:heads|tags)\/[^\n]+)$/gm

/** Objects by the full names of branches and tags. */
export type RefMap = ReadonlyMap<string, string>

/** Branches and tags in the files `packed-refs`, parsed once for each version of a file. */
export class PackedRefs {
  readonly #cache = new StatCache<RefMap | null>(CACHE_BYTES)

  /** @throws NotSelfContained, ViewTooLarge */
  async read(commonDir: string): Promise<RefMap> {
    const refs = await this.#cache.get(commonDir, async watch => {
      watch(join(commonDir, NAME))
      return parse(await readWhole(commonDir, NAME, LOCAL_PACKED_REFS_BYTES))
    })
    if (refs === null) throw new ViewTooLarge(`${NAME} has more than ${LOCAL_REFS} branches and tags`)
    return refs
  }
}

const NAME = 'packed-refs'

/** `null`: too many. */
async function parse(packed: Buffer): Promise<Computed<RefMap | null>> {
  const refs = new Map<string, string>()
  let bytes = 0
  for (let at = 0; at < packed.length; ) {
    const lineEnd = packed.indexOf('\n', at + PIECE_BYTES)
    const end = lineEnd < 0 ? packed.length : lineEnd + 1
    for (const [, oid = '', name = ''] of packed.toString('utf8', at, end).matchAll(LINE)) {
      refs.set(detached(name), detached(oid))
      bytes += MAP_ENTRY_BYTES + memoryOfText(name) + memoryOfText(oid)
    }
    if (refs.size > LOCAL_REFS) return { value: null, keep: true }
    at = end
    await nextTurn()
  }
  return { value: refs, keep: true, bytes }
}

/** The bytes of a file of the repository; empty when there is none. @throws NotSelfContained, ViewTooLarge */
export async function readWhole(commonDir: string, name: string, maxBytes: number): Promise<Buffer> {
  const file = await openReal(join(commonDir, name))
  if (file === null) {
    if ((await lstat(join(commonDir, name)).catch(ifAbsent)) !== null) throw new NotSelfContained(name)
    return Buffer.alloc(0)
  }
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new NotSelfContained(name)
    if (stats.size > maxBytes) throw new ViewTooLarge(`${name} has more than ${maxBytes} bytes`)
    const buffer = Buffer.alloc(stats.size)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
