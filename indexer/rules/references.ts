import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import { isRegular, type Tree } from './tree.ts'
import type { Policy } from './withheld.ts'

/** The place of a text, for resolving its links. */
export interface LinkPlace {
  /** The folder of the file with the link. */
  folder: RepoPath
  /** The value of `{baseDir}` and `${CLAUDE_SKILL_DIR}`. */
  skillDirectory: RepoPath | null
}

export type LinkTarget =
  | { kind: 'file'; path: RepoPath }
  | { kind: 'folder'; path: RepoPath }
  /** A path of this repository without a file or folder. */
  | { kind: 'broken' }
  /** Leads above the root. */
  | { kind: 'outside' }
  /** A symbolic link or a submodule. */
  | { kind: 'not_followed'; path: RepoPath }

/**
 * Resolves a link inside the repository; `null` when it is not a path: a URL, an anchor, a placeholder, a code span that names no file.
 * Withheld files count as absent.
 */
export function resolveLink(link: TextLink, place: LinkPlace, tree: Tree, policy: Policy): LinkTarget | null {
  if (link.kind === 'code') return resolveCodeSpan(link.target, place, tree, policy)
  const target = resolveTarget(link.target, place, tree, policy)
  return target?.kind === 'exists' ? target.target : target
}

/** Resolves a declared path, for example of `include`: relative to the declaring folder, or to the root with a leading slash. `null` when it leads above the root. */
export function resolveDeclaredPath(declared: string, folder: RepoPath): RepoPath | null {
  return declared.startsWith('/') ? normalize('', declared.slice(1)) : normalize(folder, declared)
}

type Resolved = { kind: 'exists'; target: LinkTarget } | { kind: 'broken' } | { kind: 'outside' } | null

function resolveTarget(written: string, place: LinkPlace, tree: Tree, policy: Policy): Resolved {
  const target = written.replace(/[?#].*$/s, '').trim()
  if (target === '' || target.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(target)) return null
  const { base, path } = startOf(target, place, tree)
  if (base === null || PLACEHOLDER.test(path)) return null

  let outside = false
  for (const spelling of new Set([path, decodeOnce(path)])) {
    const canonical = normalize(base, spelling)
    if (canonical === null) {
      outside = true
      continue
    }
    const found = lookUp(canonical, tree, policy)
    if (found !== undefined) return { kind: 'exists', target: found }
  }
  return { kind: outside ? 'outside' : 'broken' }
}

function resolveCodeSpan(content: string, place: LinkPlace, tree: Tree, policy: Policy): LinkTarget | null {
  const whole = content.trim()
  const token = whole.split(/\s+/).find(word => /[./]/.test(word))
  for (const spelling of token === undefined || token === whole ? [whole] : [whole, token]) {
    if (spelling === '' || spelling.length > 1024) continue
    const found = resolveTarget(spelling, place, tree, policy)
    if (found?.kind === 'exists' && found.target.kind === 'file') return found.target
  }
  return null
}

/** `undefined` when the path does not exist or is withheld. */
function lookUp(path: RepoPath, tree: Tree, policy: Policy): LinkTarget | undefined {
  const file = tree.file(path)
  if (!file && !tree.folders.has(path)) return undefined
  if (policy.reasonOf(path) !== null) return undefined
  if (!file) return { kind: 'folder', path }
  return { kind: isRegular(file) ? 'file' : 'not_followed', path }
}

function startOf(target: string, place: LinkPlace, tree: Tree): { base: RepoPath | null; path: string } {
  const variable = /^(?:\{baseDir\}|\$\{CLAUDE_SKILL_DIR\}|\$CLAUDE_SKILL_DIR|\$\{CLAUDE_PLUGIN_ROOT\})\//.exec(target)?.[0]
  if (variable?.includes('PLUGIN')) return { base: pluginRoot(place.folder, tree), path: target.slice(variable.length) }
  if (variable) return { base: place.skillDirectory, path: target.slice(variable.length) }
  if (target.startsWith('/')) return { base: '' as RepoPath, path: target.slice(1) }
  return { base: place.folder, path: target }
}

function pluginRoot(folder: RepoPath, tree: Tree): RepoPath | null {
  for (let at = folder; ; at = parentOf(at)) {
    if (tree.folders.get(at)?.folders.includes('.claude-plugin')) return at
    if (at === '') return null
  }
}

/** Placeholders for names: `<x>`, `{x}`, `…`, `*`. */
const PLACEHOLDER = /[<>{}*…]|\.\.\.|\$/

/** The canonical form of a relative path, or `null` when it leads above the root. */
function normalize(base: string, path: string): RepoPath | null {
  const segments = base === '' ? [] : base.split('/')
  for (const segment of path.split('/')) {
    if (segment === '..') {
      if (segments.pop() === undefined) return null
    } else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments.join('/') as RepoPath
}

function decodeOnce(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
