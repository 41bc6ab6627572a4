import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { storeObject } from './git-objects.ts'

/*
 * Small commits, written into the folder of git by this process. A process of git for each of the thousands of commits of the tests takes
 * longer than what they test.
 */

/** What lies at a path; `null` removes it. */
export type TestFile =
  | string
  | Uint8Array
  | { link: string }
  | { mode: '100644' | '100755'; content: string | Uint8Array }
  | { submodule: string }
  /** A blob that the repository has already. */
  | { blob: string; mode?: '100644' | '100755' | '120000' }
  | null

interface Entry {
  mode: string
  oid: string
}

/** Entries by path, without folders. */
type Files = Map<string, Entry>

/** `git fast-import` packs as many objects as this. */
const PACKED_OBJECTS = 100

export interface LooseCommit {
  files: Readonly<Record<string, TestFile>>
  /** A commit; `null` starts a history. */
  parent: string | null
  /** The files are the whole tree. */
  replace: boolean
  /** Lines of author and committer, and the message. */
  text: string
}

export class LooseCommits {
  readonly #gitDir: string
  /** Of the commits that were written here. */
  readonly #filesOf = new Map<string, Files>()

  constructor(gitDir: string) {
    this.#gitDir = gitDir
  }

  /** Stores the commit, with the id that git gives it. `null`, and nothing is stored, when it takes git to make it. */
  async store({ files, parent, replace, text }: LooseCommit): Promise<string | null> {
    const before = parent === null || replace ? new Map() : this.#filesOf.get(parent)
    const changes = Object.entries(files)
    const objects = changes.length + new Set(changes.flatMap(([path]) => foldersOf(path))).size + 2
    if (before === undefined || objects >= PACKED_OBJECTS || !changes.every(([path, file]) => isPlain(path, file))) return null
    const after: Files = new Map(before)
    for (const [path, file] of changes) await this.#apply(after, path, file)
    const tree = await this.#storeTree(after, '')
    const commit = await storeObject(
      this.#gitDir,
      'commit',
      `tree ${tree}\n${parent === null ? '' : `parent ${parent}\n`}${text}`,
    )
    this.#filesOf.set(commit, after)
    return commit
  }

  async #apply(files: Files, path: string, file: TestFile): Promise<void> {
    for (const other of files.keys()) if (other === path || other.startsWith(`${path}/`)) files.delete(other)
    if (file === null) return
    for (const folder of foldersOf(path)) files.delete(folder)
    files.set(path, await this.#storeFile(file))
  }

  async #storeFile(file: Exclude<TestFile, null>): Promise<Entry> {
    const blob = (content: string | Uint8Array) => storeObject(this.#gitDir, 'blob', content)
    if (typeof file === 'string' || file instanceof Uint8Array) return { mode: '100644', oid: await blob(file) }
    if ('link' in file) return { mode: '120000', oid: await blob(file.link) }
    if ('submodule' in file) return { mode: '160000', oid: file.submodule }
    if ('blob' in file) return { mode: file.mode ?? '100644', oid: file.blob }
    return { mode: file.mode, oid: await blob(file.content) }
  }

  /** @param folder with a slash at its end; the root is empty */
  async #storeTree(files: Files, folder: string): Promise<string> {
    const entries = new Map<string, Entry>()
    for (const [path, entry] of files) {
      if (!path.startsWith(folder)) continue
      const [name = '', ...rest] = path.slice(folder.length).split('/')
      if (rest.length === 0) entries.set(name, entry)
      else if (!entries.has(`${name}/`))
        entries.set(`${name}/`, { mode: '40000', oid: await this.#storeTree(files, `${folder}${name}/`) })
    }
    // git orders the name of a folder as if it ended with a slash.
    const ordered = [...entries].sort(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    const parts = ordered.flatMap(([name, { mode, oid }]) => [
      Buffer.from(`${mode} ${name.replace(/\/$/, '')}\0`),
      Buffer.from(oid, 'hex'),
    ])
    return storeObject(this.#gitDir, 'tree', Buffer.concat(parts))
  }
}

/** As git moves a ref: by renaming its lock. */
export async function writeRef(gitDir: string, ref: string, oid: string): Promise<void> {
  const path = join(gitDir, ref)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.lock`, `${oid}\n`, { flag: 'wx' })
  await rename(`${path}.lock`, path)
}

/** Whether the ref may be written as a file, as every git reads it. */
export function isPlainRef(gitDir: string, ref: string, oid: string): boolean {
  return /^[0-9a-f]{40}$/.test(oid) && /^refs(?:\/[a-z0-9][a-z0-9._-]*)+$/i.test(ref) && !existsSync(join(gitDir, 'reftable'))
}

function foldersOf(path: string): string[] {
  return path
    .split('/')
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join('/'))
}

/** A path that every git takes as it is, and a file whose id is known or can be computed. */
function isPlain(path: string, file: TestFile): boolean {
  const names = path.split('/')
  if (names.some(name => name === '' || name === '.' || name === '..' || /^\.git$/i.test(name))) return false
  const named = typeof file === 'object' && file !== null && 'blob' in file ? file.blob : null
  return named === null || /^[0-9a-f]{40}$/.test(named)
}
