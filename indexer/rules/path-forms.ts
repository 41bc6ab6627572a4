import { ROOT } from '#core/repo-path.ts'
import type { Tree } from './tree.ts'

/** Whether a link is a URL, or an anchor whose mark was cut off. */
export function isUrl(target: string): boolean {
  return target === '' || target.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(target)
}

/** Whether a target that leads to nothing leads to the home folder of a person or to another site. */
export function isElsewhere(target: string): boolean {
  return HOME.test(target) || DOMAIN.test(target)
}

const HOME = /^(?:~|%[A-Z_]{4,}%)/
/** An address without its scheme. */
const DOMAIN = /^(?:www\.|(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|co)(?:\/|$))/i

/** Whether a path stands for others: it has a variable, a pattern, or words that say so. */
export function isPlaceholder(path: string): boolean {
  return VARIABLE.test(path) || WORDS.test(path)
}

const VARIABLE = /[<>{}*…[\]|]|\.\.\.|\$|%[sd]\b|\b(?:YYYY|XXX+|NNN+)/
const WORDS =
  /(?:^|\/)(?:(?:absolute\/|relative\/)?path\/(?:to|of)|(?:your|my|some)[-_][^/]*)(?:\/|$)|(?:^|\/)(?:path|url|link|file|filename|file-?name|page)(?:\.\w+)?$/i

/**
 * Whether a target that leads to nothing must have been meant as a file. A single word is a placeholder more often; a path from the root is one of a site or
 * the command of a skill, unless it ends like a text or begins with a folder of the repository.
 */
export function looksLikeFile(target: string, tree: Tree): boolean {
  const name = target.split('/').findLast(segment => segment !== '') ?? ''
  if (!target.startsWith('/')) return /[./\\]/.test(target) || KNOWN_NAME.test(name)
  if (/\.(?:md|mdx|markdown|txt)$/i.test(name)) return true
  const [, first = ''] = target.split('/')
  return /\.\w+$/.test(name) && tree.folders.get(ROOT)?.folders.includes(first) === true
}

const KNOWN_NAME = /^(?:LICEN[CS]E|COPYING|NOTICE|README|CHANGELOG|CONTRIBUTING|Makefile|Dockerfile)$/
