import { joinPath, MANIFEST_FILE, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { compileExclusions, type Exclusions } from './exclusions.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { isOwnLink, type Tree, type TreeFile, type TreeFolder } from './tree.ts'

/** The manifests in force, and the paths that they withhold. */
export interface Policy {
  /** By folder. */
  manifests: ReadonlyMap<RepoPath, Manifest>
  /**
   * The topmost withheld paths: excluded files and folders, and folders that an invalid manifest closes. Everything below them is withheld,
   * too.
   */
  withheld: ReadonlyMap<RepoPath, 'excluded' | 'closed'>
  /** All folders that are not excluded, closed ones included, parents first. */
  folders: readonly TreeFolder[]
  /** Of the withheld paths, symlinks that no pattern matches: what they lead to is withheld, and their names are not. */
  blockedLinks: ReadonlySet<RepoPath>
  reasonOf(path: RepoPath): 'excluded' | 'closed' | null
  diagnostics: DiagnosticRow[]
}

/**
 * Walks the tree from the root, so a deeper manifest cannot re-include what an ancestor withholds. A path that a symlink gives to a file or folder which
 * is withheld at its own place is withheld, too.
 *
 * @param bytesOf bytes of a manifest's blob; `null` when it is missing or too large
 */
export function applyManifests(tree: Tree, bytesOf: (oid: string) => Uint8Array | null, repositoryName: string): Policy {
  const steps = applyManifestsInSteps(tree, bytesOf, repositoryName)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Does the work of `applyManifests` in small steps, for `runYielding`: many patterns over many files take long. */
export function* applyManifestsInSteps(
  tree: Tree,
  bytesOf: (oid: string) => Uint8Array | null,
  repositoryName: string,
): Generator<void, Policy> {
  const linked = linkedPaths(tree)
  const blocked: Blocked = new Map()
  for (let round = 0; ; round++) {
    const policy = yield* walkTree(tree, bytesOf, repositoryName, blocked)
    // What a manifest below a link withholds may be the target of another link, so the walk is repeated until it finds nothing new.
    const found = linked.flatMap(({ path, target }) => {
      const reason = blocked.has(path) ? null : round < LINK_ROUNDS ? policy.reasonOf(target) : 'closed'
      return reason === null ? [] : [[path, reason] as const]
    })
    if (found.length === 0) return policy
    for (const [path, reason] of found) blocked.set(path, reason)
  }
}

/** Walks before every link is withheld: only a tree made for it needs more. */
const LINK_ROUNDS = 8

/** The paths that links give to what is withheld at its own place. */
type Blocked = Map<RepoPath, 'excluded' | 'closed'>

function linkedPaths({ folders }: Tree): { path: RepoPath; target: RepoPath }[] {
  return [...folders.values()].flatMap(folder =>
    [folder, ...folder.files.values()].flatMap(({ path, target }) => (target === undefined ? [] : [{ path, target }])),
  )
}

function* walkTree(
  tree: Tree,
  bytesOf: (oid: string) => Uint8Array | null,
  repositoryName: string,
  blocked: Blocked,
): Generator<void, Policy> {
  const manifests = new Map<RepoPath, Manifest>()
  const withheld = new Map<RepoPath, 'excluded' | 'closed'>()
  const blockedLinks = new Set<RepoPath>()
  const folders: TreeFolder[] = []
  const diagnostics: DiagnosticRow[] = []

  function* walk(folder: TreeFolder, inherited: readonly Exclusion[]): Generator<void, void> {
    folders.push(folder)
    yield
    const exclusions = blocked.get(folder.path) === 'closed' ? null : readOwn(folder, inherited)
    if (exclusions === null) {
      withheld.set(folder.path, 'closed')
      return
    }
    for (const file of exclusions.length + blocked.size > 0 ? folder.files.values() : []) {
      withholdIf(isExcluded(exclusions, file.path, false), file, folder)
      yield
    }
    for (const name of folder.folders) {
      const path = joinPath(folder.path, name)
      const below = tree.folders.get(path) as TreeFolder
      if (!withholdIf(isExcluded(exclusions, path, true), below, folder)) yield* walk(below, exclusions)
    }
  }

  /** @returns whether the entry is withheld with all that is below it. A folder that is closed behind a link is walked: its row says so */
  function withholdIf(matches: boolean, entry: TreeFolder | TreeFile, folder: TreeFolder): boolean {
    const isFolder = 'folders' in entry
    const isBlocked = isFolder ? blocked.get(entry.path) === 'excluded' : blocked.has(entry.path)
    if (!matches && !isBlocked) return false
    withheld.set(entry.path, 'excluded')
    if (!matches && isOwnLink(entry, folder)) blockedLinks.add(entry.path)
    return true
  }

  function readOwn(folder: TreeFolder, inherited: readonly Exclusion[]): readonly Exclusion[] | null {
    const file = folder.files.get(MANIFEST_FILE)
    if (!file || file.mode === '160000') return inherited
    // An excluded manifest keeps its effect, in its folder and where a link gives that folder. A link to it from elsewhere would open it.
    const isOfFolder = file.target === undefined || parentOf(file.target) === folder.target
    const readable = isOfFolder || !blocked.has(file.path)
    const read = readManifest(readable ? file : { ...file, mode: '120000' }, bytesOf(file.oid), repositoryName)
    diagnostics.push(...read.diagnostics)
    if (read.kind === 'unreadable') return null
    if (read.kind === 'document') return inherited
    manifests.set(folder.path, read.manifest)
    if (read.manifest.exclude.length === 0) return inherited
    return [...inherited, { folder: folder.path, excludes: compileExclusions(read.manifest.exclude) }]
  }

  yield* walk(tree.folders.get(ROOT) as TreeFolder, [])
  return { manifests, withheld, blockedLinks, folders, diagnostics, reasonOf: path => reasonOf(withheld, path) }
}

interface Exclusion {
  folder: RepoPath
  excludes: Exclusions
}

// The folder above is not excluded, so only the path itself is matched.
function isExcluded(exclusions: readonly Exclusion[], path: RepoPath, isFolder: boolean): boolean {
  return exclusions.some(({ folder, excludes }) => excludes(folder === '' ? path : path.slice(folder.length + 1), isFolder))
}

function reasonOf(withheld: Policy['withheld'], path: RepoPath): 'excluded' | 'closed' | null {
  for (let at = path; ; at = parentOf(at)) {
    const reason = withheld.get(at)
    if (reason) return reason
    if (at === '') return null
  }
}
