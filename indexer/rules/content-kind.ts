import { READABLE_FILE_BYTES } from '#core/limits.ts'
import { baseNameOf, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import { decodeText, isLfsPointer } from '#core/text.ts'

/**
 * The kind of a file outside skill folders, by its path; `null` for files that agents are not given. `overview`: a README, which describes its
 * folder. It is not the overview of a mount, the answer that an address gets.
 */
export type PathKind = 'document' | 'overview' | 'community'

export function pathKind(path: RepoPath): PathKind | null {
  const name = baseNameOf(path)
  if (name === SKILL_FILE || hasSegment(path, VENDOR_FOLDERS)) return null
  if (OVERVIEW.test(name)) return 'overview'
  if (COMMUNITY.test(name)) return 'community'
  return MARKDOWN.test(name) && !/(?:^|\/)\./.test(path) ? 'document' : null
}

/** Whether a `SKILL.md` at this path is a skill. Dot-folders count: agents keep skills there. */
export function isSkillPlace(path: RepoPath): boolean {
  return baseNameOf(path) === SKILL_FILE && !hasSegment(path, GENERATED_FOLDERS)
}

export function isMarkdown(path: string): boolean {
  return MARKDOWN.test(path)
}

/** Whether the text of a file is searched; that of code and data is not. */
export function isProse(path: string): boolean {
  return MARKDOWN.test(path) || /\.(?:txt|rst)$/i.test(path)
}

/** Whether the extension says that the file is binary. Files with other names are read to find out. */
export function isBinaryName(path: string): boolean {
  return BINARY.test(path)
}

const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|icns|tiff?|heic|psd|mp[34]|m4[av]|mov|avi|mkv|webm|og[gv]|wav|flac|ttf|otf|woff2?|eot|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|whl|pdf|docx?|xlsx?|pptx?|exe|dll|so|dylib|class|pyc|wasm|sqlite3?|parquet|onnx|safetensors|npy|npz|pkl)$/i

const MARKDOWN = /\.(?:md|mdx|markdown)$/i
/** README (`license/names.ts` ranks those of a folder) and its translations: `README.zh-CN.md`, `README_zh.md`, `README-de.md`. */
const OVERVIEW = /^readme(?:(?:[._-][a-z]{2,3}(?:[-_][a-z0-9]{2,4})?)?\.(?:md|mdx|markdown|txt|rst))?$/i
/** Files for contributors, by convention in upper case: `docs/security.md` is a document. */
const COMMUNITY =
  /^(?:AGENTS|CLAUDE|GEMINI|LICEN[CS]E.*|NOTICE.*|COPYING|CHANGELOG|HISTORY|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY|SUPPORT|GOVERNANCE|MAINTAINERS|AUTHORS|.*_TEMPLATE)(?:\.(?:md|mdx|markdown|txt|rst))?$/
const GENERATED_FOLDERS = new Set(['node_modules', '__pycache__'])
const VENDOR_FOLDERS = new Set([...GENERATED_FOLDERS, 'vendor', 'third_party'])

function hasSegment(path: string, names: ReadonlySet<string>): boolean {
  return path.split('/').some(segment => names.has(segment))
}

/** What the bytes of a file are. `in_lfs`: a pointer to a text that Git LFS keeps elsewhere. `too_large`: more than a reader is given. */
export type FileText = { kind: 'text'; text: string } | { kind: 'not_text' } | { kind: 'in_lfs' } | { kind: 'too_large' }

/** What was found of a blob. `unreadable`: the repository lacks it. `unread`: it was not read. */
export type BlobState = FileText['kind'] | 'unreadable' | 'unread'

export function readFileText(bytes: Uint8Array): FileText {
  if (bytes.length > READABLE_FILE_BYTES) return { kind: 'too_large' }
  const text = decodeText(bytes)
  if (text === null) return { kind: 'not_text' }
  return isLfsPointer(text) ? { kind: 'in_lfs' } : { kind: 'text', text }
}
