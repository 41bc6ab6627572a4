import { foldPath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
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
  /** A path of this repository without a file or folder. `near`: the path that may be meant. */
  | { kind: 'broken'; near?: NearPath }
  /** Leads above the root. */
  | { kind: 'outside' }
  /** A submodule, or a symbolic link that leads to no file. */
  | { kind: 'not_followed'; path: RepoPath }

/**
 * Resolves a link inside the repository; `null` when it is not a path: a URL, an anchor, a placeholder, a path of a site or of a machine, a code span that
 * names no file. Withheld files count as absent.
 */
export function resolveLink(link: TextLink, place: LinkPlace, tree: Tree, policy: Policy): LinkTarget | null {
  if (link.kind === 'code') return resolveCodeSpan(link.target, place, tree, policy)
  if (link.kind === 'path') return resolvePathSpan(link.target, place, tree, policy)
  const target = resolveTarget(link.target, place, tree, policy)
  return target?.kind === 'exists' ? target.target : target
}

/** Resolves a declared path, for example of `include`: relative to the declaring folder, or to the root with a leading slash. `null` when it leads above the root. */
export function resolveDeclaredPath(declared: string, folder: RepoPath): RepoPath | null {
  return declared.startsWith('/') ? normalize('', declared.slice(1)) : normalize(folder, declared)
}

/** The paths that a link may spell, from the folder of its text. */
export function pathsOfLink(target: string, folder: RepoPath): RepoPath[] {
  const path = target.replace(/[?#].*$/s, '').trim()
  return [path, decodeOnce(path)].flatMap(spelling => resolveDeclaredPath(spelling, folder) ?? [])
}

type Resolved = { kind: 'exists'; target: LinkTarget } | { kind: 'broken'; near?: NearPath } | { kind: 'outside' } | null

function resolveTarget(written: string, place: LinkPlace, tree: Tree, policy: Policy): Resolved {
  const target = written.replace(/[?#].*$/s, '').trim()
  if (isUrl(target)) return null
  const { base, path } = startOf(target, place, tree)
  if (base === null) return null

  const withoutLine = path.replace(/:\d+(?:[-:]\d+)?$/, '')
  const canonical = [...new Set([path, decodeOnce(path), withoutLine])].map(spelling => normalize(base, spelling))
  for (const one of canonical) {
    const found = one === null ? undefined : lookUp(one, tree, policy)
    if (found !== undefined) return { kind: 'exists', target: found }
  }
  if (isElsewhere(target) || isPlaceholder(path)) return null
  const near = nearPath(normalize(base, decodeOnce(path).replaceAll('\\', '/')), tree, policy)
  if (near !== null) return { kind: 'broken', near }
  if (!looksLikeFile(target, tree)) return null
  return { kind: canonical.includes(null) ? 'outside' : 'broken' }
}

/** A code span that asks for a file of the skill: relative to its text, or to the folder of the skill. */
function resolvePathSpan(content: string, place: LinkPlace, tree: Tree, policy: Policy): LinkTarget | null {
  const found = resolveCodeSpan(content, place, tree, policy)
  if (found !== null || place.skillDirectory === null) return found
  const inSkill = resolveTarget(content, { ...place, folder: place.skillDirectory }, tree, policy)
  if (inSkill?.kind === 'exists') return inSkill.target
  // On Windows the file is found.
  return inSkill?.kind === 'outside' || (inSkill?.near && content.includes('\\')) ? null : inSkill
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

/** An existing path that a link almost names. */
export interface NearPath {
  path: RepoPath
  /** `separator`: it is written with backslashes. `normalization`: the characters look the same and are encoded otherwise. */
  difference: 'separator' | 'case' | 'normalization'
}

/**
 * The path of the tree that differs in upper and lower case or in Unicode normalization alone, or not at all.
 *
 * @param path with slashes; `null`: it leads out of the repository
 */
function nearPath(path: RepoPath | null, tree: Tree, policy: Policy): NearPath | null {
  if (path === null || path === '') return null
  const found = pathsByFold(tree).get(foldPath(path))
  if (found === undefined || policy.reasonOf(found) !== null) return null
  if (found === path) return { path: found, difference: 'separator' }
  return { path: found, difference: found.normalize() === path.normalize() ? 'normalization' : 'case' }
}

const known = new WeakMap<Tree, ReadonlyMap<string, RepoPath>>()

/** Built for the first link that leads to nothing. Of paths that fold alike the first one counts. */
function pathsByFold(tree: Tree): ReadonlyMap<string, RepoPath> {
  const paths = known.get(tree) ?? foldPaths(tree)
  known.set(tree, paths)
  return paths
}

function foldPaths({ folders }: Tree): Map<string, RepoPath> {
  const paths = new Map<string, RepoPath>()
  for (const folder of folders.values()) {
    for (const { path } of [folder, ...folder.files.values()]) {
      const folded = foldPath(path)
      if (!paths.has(folded)) paths.set(folded, path)
    }
  }
  return paths
}

/** Whether a link is a URL, or an anchor whose mark was cut off. */
function isUrl(target: string): boolean {
  return target === '' || target.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(target)
}

/** Whether a target that leads to nothing leads to the home folder of a person or to another site. */
function isElsewhere(target: string): boolean {
  return HOME.test(target) || DOMAIN.test(target)
}

const HOME = /^(?:~|%[A-Z_]{4,}%)/
/** An address without its scheme. */
const DOMAIN = /^(?:www\.|(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|co)(?:\/|$))/i

/** Whether a path stands for others: it has a variable, a pattern, or words that say so. */
function isPlaceholder(path: string): boolean {
  return VARIABLE.test(path) || WORDS.test(path)
}

const VARIABLE = /[<>{}*…[\]|]|\.\.\.|\$|%[sd]\b|\b(?:YYYY|XXX+|NNN+)/
const WORDS =
  /(?:^|\/)(?:(?:absolute\/|relative\/)?path\/(?:to|of)|(?:your|my|some)[-_][^/]*)(?:\/|$)|(?:^|\/)(?:path|url|link|file|filename|file-?name|page)(?:\.\w+)?$/i

/**
 * Whether a target that leads to nothing must have been meant as a file. A single word is a placeholder more often; a path from the root is one of a site or
 * the command of a skill, unless it ends like a text or begins with a folder of the repository.
 */
function looksLikeFile(target: string, tree: Tree): boolean {
  const name = target.split('/').findLast(segment => segment !== '') ?? ''
  if (!target.startsWith('/')) return /[./\\]/.test(target) || KNOWN_NAME.test(name)
  if (/\.(?:md|mdx|markdown|txt)$/i.test(name)) return true
  const [, first = ''] = target.split('/')
  return /\.\w+$/.test(name) && tree.folders.get(ROOT)?.folders.includes(first) === true
}

const KNOWN_NAME = /^(?:LICEN[CS]E|COPYING|NOTICE|README|CHANGELOG|CONTRIBUTING|Makefile|Dockerfile)$/
