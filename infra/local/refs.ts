import { constants, type Dirent } from 'node:fs'
import { lstat, opendir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { refNames } from '#core/address.ts'
import { LOCAL_PACKED_REFS_BYTES, LOCAL_REFS, LOCAL_SHALLOW_BYTES } from '#core/limits.ts'
import { MAP_ENTRY_BYTES, memoryOfText } from '#core/memory.ts'
import type { HostRefs } from '#core/ports/git-host.ts'
import { detached } from '#core/text.ts'
import { type TipSet, tipSetOf } from '../git/history.ts'
import { ifAbsent, openReal, pathOf, readRealText } from '../git/safe-open.ts'
import { type RepositoryLocation, readHead } from './location.ts'
import { NotSelfContained, ViewTooLarge } from './object-files.ts'
import { type Computed, StatCache, type Watch } from './stat-cache.ts'

const SYMBOLIC_REF_DEPTH = 5
/** Holds an id, or the longest name that a file system can store. What follows is not read. */
const REF_FILE_BYTES = 4_096

/**
 * The object that a branch or tag names; `null` when there is none. Reads the files of the repository itself, without following links:
 * git would follow them, also out of the repository.
 *
 * @param name a full name
 * @throws NotSelfContained, ViewTooLarge
 */
export async function readRef(packed: PackedRefs, commonDir: string, name: string, watch: Watch): Promise<string | null> {
  watch(join(commonDir, 'packed-refs'))
  let current = name
  for (let depth = 0; depth <= SYMBOLIC_REF_DEPTH; depth++) {
    watch(join(commonDir, current))
    const loose = await readLoose(commonDir, current)
    if (loose === null) return (await packed.read(commonDir)).get(current) ?? null
    if ('oid' in loose) return loose.oid
    const [target] = refNames(loose.ref)
    if (target !== loose.ref) return null
    current = target
  }
  return null
}

/** `null`: there is no file, so the ref may be packed. A file that is no ref leads to the ref ``, which does not exist. */
async function readLoose(commonDir: string, name: string): Promise<{ oid: string } | { ref: string } | null> {
  const path = join(commonDir, name)
  // Very old repositories have links as symbolic refs. Git follows other links, this reader does not.
  if ((await lstat(path).catch(ifAbsent))?.isSymbolicLink()) return { ref: (await readlink(path).catch(ifAbsent)) ?? '' }
  const text = await readRealText(path, REF_FILE_BYTES)
  if (text === null) return null
  const oid = /^([0-9a-f]{40})(?:[ \t\r\n]|$)/.exec(text)?.[1]
  if (oid !== undefined) return { oid: detached(oid) }
  return { ref: detached(/^ref:[ \t]*(refs\/[^ \t\n\r]+)/.exec(text)?.[1] ?? '') }
}

/** Objects of `shallow`, the commits whose parents a clone lacks. @throws NotSelfContained, ViewTooLarge */
export async function readShallow(commonDir: string): Promise<string[]> {
  return ((await readWhole(commonDir, 'shallow', LOCAL_SHALLOW_BYTES)).toString('latin1').match(/^[0-9a-f]{40}$/gm) ?? []).map(
    detached,
  )
}

/**
 * The branches and tags with the objects that they name. A symbolic ref is left out: its target is listed by itself.
 *
 * @throws NotSelfContained, ViewTooLarge
 */
export async function listRefs(packed: PackedRefs, { commonDir }: RepositoryLocation, watch: Watch): Promise<Computed<HostRefs>> {
  watch(join(commonDir, 'packed-refs'))
  const loose = await readAllLoose(commonDir, watch)
  const refs = new Map(await packed.read(commonDir))
  for (const [name, oid] of loose.byName) {
    if (oid === null) refs.delete(name)
    else refs.set(name, oid)
  }
  if (refs.size > LOCAL_REFS) throw new ViewTooLarge(`it has more than ${LOCAL_REFS} branches and tags`)
  const bytes = [...refs.keys()].reduce((sum, name) => sum + MAP_ENTRY_BYTES + memoryOfText(name) + OID_BYTES, 0)
  return { value: refs, keep: loose.folders <= WATCHED_FOLDERS, bytes }
}

/**
 * Everything that makes a commit of the repository public: the branches, the tags, and HEAD where it is detached.
 *
 * @throws NotSelfContained, ViewTooLarge
 */
export async function readTips(
  packed: PackedRefs,
  { gitDir, commonDir }: RepositoryLocation,
  watch: Watch,
): Promise<Computed<TipSet>> {
  watch(join(gitDir, 'HEAD'))
  watch(join(commonDir, 'packed-refs'))
  const loose = await readAllLoose(commonDir, watch)
  const oids = [...loose.byName.values()].filter(oid => oid !== null)
  for (const [name, oid] of await packed.read(commonDir)) if (!loose.byName.has(name)) oids.push(oid)
  if (oids.length > LOCAL_REFS) throw new ViewTooLarge(`it has more than ${LOCAL_REFS} branches and tags`)
  const head = await readHead(gitDir)
  const ofHead = head && 'commit' in head ? [head.commit] : []
  // In the order of the files: sorting the names would block for long, and an unchanged repository keeps its order.
  const value = tipSetOf([...oids, ...ofHead])
  return { value, keep: loose.folders <= WATCHED_FOLDERS, bytes: value.oids.length * OID_BYTES }
}

interface LooseRefs {
  /** The object; `null` for a symbolic ref, whose target is a tip by itself. */
  byName: Map<string, string | null>
  /** Names in all folders. */
  entries: number
  folders: number
}

/** How deep folders of refs may be nested. */
const REF_DEPTH = 64
/** Files whose changes in place are noticed. Git itself replaces the file of a ref, which its folder shows. */
const WATCHED_FILES = 100
/** With more folders, tips are read each time. Each use of the cached tips checks all of them at once. */
const WATCHED_FOLDERS = 200
/** Estimated memory of an object id. */
const OID_BYTES = 112

async function readAllLoose(commonDir: string, watch: Watch): Promise<LooseRefs> {
  const loose: LooseRefs = { byName: new Map(), entries: 0, folders: 0 }
  for (const folder of ['refs/heads', 'refs/tags']) await readLooseBelow(commonDir, folder, watch, loose)
  return loose
}

async function readLooseBelow(commonDir: string, folder: string, watch: Watch, into: LooseRefs, depth = 0): Promise<void> {
  if (depth > REF_DEPTH) throw new ViewTooLarge('its folders of branches or tags are nested too deeply')
  if (++into.folders <= WATCHED_FOLDERS) watch(join(commonDir, folder), 'entries')
  for (const entry of await listReal(join(commonDir, folder), into)) {
    const name = `${folder}/${entry.name}`
    if (refNames(name).length === 0) continue
    if (entry.isDirectory()) await readLooseBelow(commonDir, name, watch, into, depth + 1)
    else if (entry.isFile()) await readLooseInto(commonDir, name, watch, into)
  }
}

async function readLooseInto(commonDir: string, name: string, watch: Watch, { byName }: LooseRefs): Promise<void> {
  if (byName.size < WATCHED_FILES) watch(join(commonDir, name))
  const ref = await readLoose(commonDir, name)
  if (ref !== null) byName.set(name, 'oid' in ref ? ref.oid : null)
}

/** Counts the entries while it lists them: there may be millions. */
async function listReal(path: string, counts: Pick<LooseRefs, 'entries'>): Promise<Dirent[]> {
  const folder = await openReal(path, constants.O_DIRECTORY)
  if (folder === null) return []
  try {
    const entries: Dirent[] = []
    for await (const entry of await opendir(pathOf(folder, path), { bufferSize: 1024 })) {
      if (++counts.entries > LOCAL_REFS) throw new ViewTooLarge('it has too many ref files: run git pack-refs')
      entries.push(entry)
    }
    return entries
  } finally {
    await folder.close()
  }
}

/** Memory of the refs of all repositories. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Bytes that are parsed between two turns of the event loop. */
const PIECE_BYTES = 64 * 1024
const LINE = /^([0-9a-f]{40}) (refs\/(?:heads|tags)\/[^\n]+)$/gm

/** Objects by the full names of branches and tags. */
type RefMap = ReadonlyMap<string, string>

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
async function readWhole(commonDir: string, name: string, maxBytes: number): Promise<Buffer> {
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
