import type { Diagnostic } from '#core/contract/shared.ts'
import { joinPath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { compileExclusions, type Exclusions } from './exclusions.ts'
import { MANIFEST_FILE, type Manifest, readManifest } from './manifest.ts'
import type { Tree, TreeFolder } from './tree.ts'

/** What ancestors withhold, and the manifests that are in force. */
export interface Policy {
  /** By folder. */
  manifests: ReadonlyMap<RepoPath, Manifest>
  /**
   * Topmost withheld paths only: excluded files and folders, and folders closed by a manifest that cannot be understood.
   * What lies below an excluded or closed folder is withheld with it.
   */
  withheld: ReadonlyMap<RepoPath, 'excluded' | 'closed'>
  /** Folders that are delivered or at least known, closed ones included, in no special order. */
  folders: readonly TreeFolder[]
  reasonOf(path: RepoPath): 'excluded' | 'closed' | null
  diagnostics: Diagnostic[]
}

/**
 * Walks the tree from the root, so that a deeper manifest can never give back what an ancestor withholds.
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

/** The same in small steps: many patterns over many files take long, and whoever walks has other things to look after. */
export function* applyManifestsInSteps(
  tree: Tree,
  bytesOf: (oid: string) => Uint8Array | null,
  repositoryName: string,
): Generator<void, Policy> {
  const manifests = new Map<RepoPath, Manifest>()
  const withheld = new Map<RepoPath, 'excluded' | 'closed'>()
  const folders: TreeFolder[] = []
  const diagnostics: Diagnostic[] = []

  function* walk(folder: TreeFolder, inherited: readonly Exclusion[]): Generator<void, void> {
    folders.push(folder)
    yield
    const exclusions = readOwn(folder, inherited)
    if (exclusions === null) {
      withheld.set(folder.path, 'closed')
      return
    }
    if (exclusions.length > 0) {
      for (const file of folder.files.values()) {
        if (isExcluded(exclusions, file.path, false)) withheld.set(file.path, 'excluded')
        yield
      }
    }
    for (const name of folder.folders) {
      const path = joinPath(folder.path, name)
      if (isExcluded(exclusions, path, true)) withheld.set(path, 'excluded')
      else yield* walk(tree.folders.get(path) as TreeFolder, exclusions)
    }
  }

  function readOwn(folder: TreeFolder, inherited: readonly Exclusion[]): readonly Exclusion[] | null {
    const file = folder.files.get(MANIFEST_FILE)
    if (!file || file.mode === '160000') return inherited
    const read = readManifest(file, bytesOf(file.oid), repositoryName)
    diagnostics.push(...read.diagnostics)
    if (read.kind === 'unreadable') return null
    if (read.kind === 'document') return inherited
    manifests.set(folder.path, read.manifest)
    if (read.manifest.exclude.length === 0) return inherited
    return [...inherited, { folder: folder.path, excludes: compileExclusions(read.manifest.exclude) }]
  }

  yield* walk(tree.folders.get(ROOT) as TreeFolder, [])
  return { manifests, withheld, folders, diagnostics, reasonOf: path => reasonOf(withheld, path) }
}

interface Exclusion {
  folder: RepoPath
  excludes: Exclusions
}

// The folder above is known to be kept, so each path is only asked for itself.
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
