import type { NotDelivered } from '#core/contract/browse.ts'
import type { ReadFirst, ReadFirstFile } from '#core/contract/mount.ts'
import { READ_FIRST } from '#core/read-first.ts'
import { baseNameOf, isInside, joinPath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { type EntryRow, entryKey, type FileRow, type FolderRow, type OtherRow, type RowOf } from '#core/snapshot/format.ts'
import { type Content, type Rows, sortRows } from './content-facts.ts'
import { skillFields, unservedFields } from './folder-rows.ts'
import type { Plan, PlannedFile } from './plan.ts'
import { buildListing } from './skill-rows.ts'
import { isOwnLink, type TreeFile, type TreeFolder } from './tree.ts'

/** The rows that know what is listed. */
interface ListedRows {
  folders: ReadonlyMap<RepoPath, FolderRow>
  entries: Rows<'entries'>
  files: ReadonlyMap<RepoPath, FileRow>
  contexts: Rows<'contexts'>
}

interface WholeTree {
  folders: Map<RepoPath, FolderRow>
  entries: Rows<'entries'>
  others: Rows<'others'>
}

/**
 * Adds the rest of the tree to what is listed, in small steps, for `runYielding`: every file, symlink and submodule that no manifest excludes or
 * closes, and the folders that hold them. A symlink to a folder is a file, unless that folder has listed entries under the path of the link.
 * Pure.
 */
export function* buildWholeTree(plan: Plan, content: Content, listed: ListedRows): Generator<void, WholeTree> {
  const facts = new TreeFacts(plan, content, listed)
  yield* facts.measureInSteps()
  const others: Rows<'others'> = []
  for (const folder of facts.openFolders()) {
    yield
    for (const path of facts.namesIn(folder)) {
      const row = facts.isListed(path) ? null : facts.otherRow(path, folder)
      if (row !== null) others.push([entryKey(folder.path, baseNameOf(path)), row])
    }
  }
  const folders = [...listed.folders].filter(([path]) => path === ROOT || facts.isNamed(path))
  return {
    folders: new Map(folders.map(([path, row]) => [path, facts.withReadFirst(path, row)])),
    entries: listed.entries.map(([key, entry]) => [key, facts.withTree(entry)]),
    others: sortRows(others),
  }
}

/** What is known of a folder, from all that is below it. */
interface Measured {
  /** It is listed, or has an entry that is. */
  isNamed: boolean
  /** Entries at any depth below that are files. */
  files: number
  /** Files that coding agents read first: its own, and those of folders below it. */
  readFirst: ReadFirst
  hasDelivered: boolean
}

const NOTHING: Measured = { isNamed: false, files: 0, readFirst: { files: [], nested: 0 }, hasDelivered: false }

class TreeFacts {
  readonly #plan: Plan
  readonly #content: Content
  readonly #listed: ListedRows
  readonly #entries: ReadonlyMap<RepoPath, EntryRow>
  readonly #planned: ReadonlyMap<RepoPath, PlannedFile>
  readonly #contexts: ReadonlyMap<string, RowOf<'contexts'>>
  readonly #linked: ReadonlyMap<RepoPath, { file: TreeFile; served: boolean }>
  readonly #measured = new Map<RepoPath, Measured>()

  constructor(plan: Plan, content: Content, listed: ListedRows) {
    this.#plan = plan
    this.#content = content
    this.#listed = listed
    this.#entries = new Map(listed.entries.map(([, entry]) => [entry.path as RepoPath, entry]))
    this.#planned = new Map(plan.files.map(planned => [planned.file.path, planned]))
    this.#contexts = new Map(listed.contexts)
    this.#linked = new Map(content.linked.map(linked => [linked.file.path, linked]))
  }

  /** The folders that no manifest closes, those above before those below. */
  openFolders(): TreeFolder[] {
    const { folders, withheld } = this.#plan.policy
    return folders.filter(({ path }) => withheld.get(path) !== 'closed')
  }

  /** Measures every folder, those below before those above. */
  *measureInSteps(): Generator<void, void> {
    for (const folder of this.openFolders().reverse()) {
      this.#measured.set(folder.path, this.#measure(folder))
      yield
    }
  }

  #measure(folder: TreeFolder): Measured {
    const found: Measured = { ...NOTHING, isNamed: this.isListed(folder.path), readFirst: { files: [], nested: 0 } }
    for (const path of this.namesIn(folder)) {
      found.isNamed = true
      const below = this.#measured.get(path)
      if (this.#isFile(path, folder)) found.files++
      if (below === undefined || this.#isFile(path, folder)) {
        found.hasDelivered ||= this.#isDelivered(path)
        continue
      }
      found.files += below.files
      found.hasDelivered ||= below.hasDelivered
      found.readFirst.nested += below.readFirst.nested + below.readFirst.files.length
    }
    found.readFirst.files = this.#readFirstIn(folder)
    return found
  }

  /** The paths of what is in a folder and may be named. */
  namesIn(folder: TreeFolder): RepoPath[] {
    const { policy } = this.#plan
    const files = [...folder.files.values()].map(({ path }) => path)
    const folders = folder.folders.map(name => joinPath(folder.path, name))
    return [
      ...files.filter(path => !policy.withheld.has(path) || policy.blockedLinks.has(path)),
      ...folders.filter(path => policy.blockedLinks.has(path) || this.isNamed(path) || this.#isLinkedFolder(path, folder)),
    ]
  }

  isListed(path: RepoPath): boolean {
    return this.#entries.has(path)
  }

  isNamed(path: RepoPath): boolean {
    return this.isListed(path) || this.#measured.get(path)?.isNamed === true
  }

  /** Whether a path is a symlink to a folder, and not excluded. It is listed even if nothing behind it may be named. */
  #isLinkedFolder(path: RepoPath, folder: TreeFolder): boolean {
    const below = this.#plan.tree.folders.get(path)
    return below !== undefined && isOwnLink(below, folder) && this.#plan.policy.withheld.get(path) !== 'excluded'
  }

  #isFile(path: RepoPath, folder: TreeFolder): boolean {
    const below = this.#plan.tree.folders.get(path)
    if (below !== undefined) return isOwnLink(below, folder) && !this.isListed(path)
    return this.#plan.tree.file(path)?.mode !== '160000'
  }

  #isDelivered(path: RepoPath): boolean {
    const row = this.#listed.files.get(path)
    return row?.record !== undefined && row.refusal === undefined
  }

  /** Where a symlink leads, if that may be named. */
  #targetOf(path: RepoPath): RepoPath | null {
    const { tree, policy } = this.#plan
    const target = (tree.folders.get(path) ?? tree.file(path))?.target ?? tree.endOf(path)
    if (target === null || target === ROOT || policy.reasonOf(target) === 'excluded') return null
    if (tree.folders.has(target)) return this.isNamed(target) ? target : null
    return policy.reasonOf(target) === null ? target : null
  }

  /** Why agents do not get a file; `null`: they get it. */
  #whyOf(path: RepoPath, folder: TreeFolder): NotDelivered | null {
    const file = this.#plan.tree.file(path)
    if (file === null) return 'link'
    if (this.#isDelivered(path)) return null
    if (file.mode === '160000') return 'submodule'
    if (isOwnLink(file, folder)) return 'link'
    return WHY[this.#listed.files.get(path)?.refusal ?? 'none']
  }

  #linkFields(path: RepoPath, folder: TreeFolder): { target?: RepoPath } {
    const entry = this.#plan.tree.folders.get(path) ?? this.#plan.tree.file(path)
    const target = entry && isOwnLink(entry, folder) ? this.#targetOf(path) : null
    return target === null ? {} : { target }
  }

  /** The row of an entry that is not listed. */
  otherRow(path: RepoPath, folder: TreeFolder): OtherRow {
    const link = this.#linkFields(path, folder)
    if (!this.#isFile(path, folder)) {
      const below = this.#measured.get(path)
      const counts = { skills: 0, documents: 0, files: below?.files ?? 0 }
      if (below === undefined) return { kind: 'directory', counts, why: 'submodule', ...link }
      return { kind: 'directory', counts, ...this.#skillIn(joinPath(path, 'SKILL.md')), ...notDelivered(below), ...link }
    }
    const why = this.#whyOf(path, folder)
    const size = why === 'link' ? null : (this.#plan.tree.file(path)?.sizeBytes ?? null)
    const title = this.#content.factsOf(path)?.title
    const sha256 = this.#listed.files.get(path)?.sha256
    return {
      kind: 'file',
      ...(size === null ? {} : { size }),
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(title ? { title } : {}),
      ...(this.#skillIn(path) ?? this.#unserved(path)),
      ...(why === null ? {} : { why }),
      ...link,
    }
  }

  /** The fields of a skill that is not listed. */
  #skillIn(path: RepoPath) {
    const planned = this.#planned.get(path)
    const context = planned?.kind === 'skill' ? this.#contexts.get(path) : undefined
    return planned?.owner && context ? skillFields(buildListing(planned.owner, context)) : undefined
  }

  #unserved(path: RepoPath) {
    const file = this.#planned.get(path) ?? this.#linked.get(path)
    return file === undefined ? {} : unservedFields(file, this.#plan)
  }

  withTree(entry: EntryRow): EntryRow {
    const path = entry.path as RepoPath
    const folder = this.#plan.tree.folders.get(parentOf(path)) as TreeFolder
    const link = this.#linkFields(path, folder)
    if (entry.kind === 'directory') {
      // Nothing is named below a folder that is closed.
      const below = this.#measured.get(path) ?? NOTHING
      return { ...entry, counts: { ...entry.counts, files: below.files }, ...notDelivered(below), ...link }
    }
    const why = this.#whyOf(path, folder)
    return { ...entry, ...(why === null ? {} : { why }), ...link }
  }

  withReadFirst(path: RepoPath, row: FolderRow): FolderRow {
    const { files, nested } = this.#measured.get(path)?.readFirst ?? NOTHING.readFirst
    return files.length + nested === 0
      ? row
      : { ...row, readFirst: { files: files.map(file => this.#inFolder(path, file)), nested } }
  }

  #readFirstIn(folder: TreeFolder): ReadFirstFile[] {
    const { tree, policy } = this.#plan
    return READ_FIRST.flatMap(name => {
      const path = joinPath(folder.path, name)
      const file = tree.file(path)
      const around = tree.folders.get(parentOf(path))
      const isAbsent = policy.reasonOf(path) !== null && !policy.blockedLinks.has(path)
      if (!file || !around || isAbsent || file.mode === '160000' || policy.reasonOf(around.path) !== null) return []
      const isDelivered = this.#isDelivered(path)
      const size = isDelivered || !isOwnLink(file, around) ? file.sizeBytes : null
      const tokens = isDelivered ? this.#content.factsOf(path)?.tokens : undefined
      return [{ path, ...(size === null ? {} : { size }), ...(tokens === undefined ? {} : { tokens }), delivered: isDelivered }]
    })
  }

  /** Targets are known once every folder is measured. A mount names none outside of it. */
  #inFolder(folder: RepoPath, file: ReadFirstFile): ReadFirstFile {
    const path = file.path as RepoPath
    const { target } = this.#linkFields(path, this.#plan.tree.folders.get(parentOf(path)) as TreeFolder)
    return target !== undefined && isInside(folder, target) && target !== folder ? { ...file, target } : file
  }
}

function notDelivered({ hasDelivered }: Measured): { delivered?: false } {
  return hasDelivered ? {} : { delivered: false }
}

const WHY = {
  none: 'not_delivered',
  'file.not_served': 'withheld',
  'file.too_large': 'too_large',
  'file.not_text': 'not_text',
} as const
