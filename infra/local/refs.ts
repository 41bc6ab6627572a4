import { constants, type Dirent } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { refNames } from '#core/address.ts'
import { ifAbsent, openReal, pathOf, readRealText } from '#infra/git/contained.ts'
import { type TipSet, tipSetOf } from '#infra/git/history.ts'
import { NotSelfContained, ViewTooLarge } from './object-files.ts'
import { type Place, readHead } from './place.ts'
import type { Computed, Watch } from './signed-cache.ts'

const SYMBOLIC_REF_DEPTH = 5

/**
 * The object that a branch or tag names; `null` when there is none. Reads the files of the repository itself, without following links:
 * git would follow them, also out of the repository.
 *
 * @param name a full name
 * @throws NotSelfContained, ViewTooLarge
 */
export async function readRef(commonDir: string, name: string, watch: Watch): Promise<string | null> {
  watch(join(commonDir, 'packed-refs'))
  let current = name
  for (let depth = 0; depth <= SYMBOLIC_REF_DEPTH; depth++) {
    watch(join(commonDir, current))
    const loose = await readLoose(commonDir, current)
    if (loose === null) return findPacked(await readPackedRefs(commonDir), current)
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
  const text = await readRealText(path)
  if (text === null) return null
  const oid = /^([0-9a-f]{40})(?:[ \t\r\n]|$)/.exec(text)?.[1]
  return oid === undefined ? { ref: /^ref:[ \t]*(refs\/[^ \t\n\r]+)/.exec(text)?.[1] ?? '' } : { oid }
}

const PACKED_BYTES = 64 * 1024 * 1024

/** The bytes of `packed-refs`; empty when there is none. */
async function readPackedRefs(commonDir: string): Promise<Buffer> {
  return readWhole(commonDir, 'packed-refs', PACKED_BYTES)
}

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

function findPacked(packed: Buffer, name: string): string | null {
  const line = Buffer.from(` ${name}\n`)
  for (let at = packed.indexOf(line); at >= 0; at = packed.indexOf(line, at + 1)) {
    const oid = packed.toString('latin1', Math.max(0, at - 41), at)
    const [, found] = (at === 40 ? /^([0-9a-f]{40})$/ : /^\n([0-9a-f]{40})$/).exec(oid) ?? []
    if (found !== undefined) return found
  }
  return null
}

/** Objects of `shallow`, the commits whose parents a clone lacks. */
export async function readShallow(commonDir: string): Promise<string[]> {
  return (await readWhole(commonDir, 'shallow', PACKED_BYTES)).toString('latin1').match(/^[0-9a-f]{40}$/gm) ?? []
}

/**
 * Everything that makes a commit of the repository public: the branches, the tags, and HEAD where it is detached.
 *
 * @throws NotSelfContained, ViewTooLarge
 */
export async function readTips({ gitDir, commonDir }: Place, watch: Watch): Promise<Computed<TipSet>> {
  watch(join(gitDir, 'HEAD'))
  watch(join(commonDir, 'packed-refs'))
  const loose: LooseRefs = { byName: new Map(), folders: 0 }
  for (const folder of ['refs/heads', 'refs/tags']) await readLooseBelow(commonDir, folder, watch, loose)
  const oids = [...loose.byName].flatMap(([name, oid]): [string, string][] => (oid === null ? [] : [[name, oid]]))
  const packed = (await readPackedRefs(commonDir)).toString()
  for (const [, oid = '', name = ''] of packed.matchAll(PACKED_LINE)) if (!loose.byName.has(name)) oids.push([name, oid])
  oids.sort(([left], [right]) => (left < right ? -1 : 1))
  const head = await readHead(gitDir)
  const detached = head && 'commit' in head ? [head.commit] : []
  return { value: tipSetOf([...oids.map(([, oid]) => oid), ...detached]), keep: loose.folders <= WATCHED_FOLDERS }
}

interface LooseRefs {
  /** The object; `null` for a symbolic ref, whose target is a tip by itself. */
  byName: Map<string, string | null>
  folders: number
}

const PACKED_LINE = /^([0-9a-f]{40}) (refs\/(?:heads|tags)\/[^\n]+)$/gm
/** How deep folders of refs may be nested. */
const REF_DEPTH = 64
const LOOSE_REFS = 500_000
/** Files whose changes in place are noticed. Git itself replaces the file of a ref, which its folder shows. */
const WATCHED_FILES = 1_000
/** With more folders, tips are read each time. */
const WATCHED_FOLDERS = 1_000

async function readLooseBelow(commonDir: string, folder: string, watch: Watch, into: LooseRefs, depth = 0): Promise<void> {
  if (depth > REF_DEPTH || into.byName.size + ++into.folders > LOOSE_REFS)
    throw new ViewTooLarge('it has too many ref files: run git pack-refs')
  if (into.folders <= WATCHED_FOLDERS) watch(join(commonDir, folder), 'entries')
  for (const entry of await listReal(join(commonDir, folder))) {
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

async function listReal(path: string): Promise<Dirent[]> {
  const folder = await openReal(path, constants.O_DIRECTORY)
  if (folder === null) return []
  try {
    return await readdir(pathOf(folder, path), { withFileTypes: true })
  } finally {
    await folder.close()
  }
}
