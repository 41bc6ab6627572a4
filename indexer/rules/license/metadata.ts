import { type RepoPath, ROOT } from '#core/repo-path.ts'
import { kindOfExpression } from './kind.ts'
import { readLicenseWords } from './license-words.ts'

/**
 * The `license` of a package or plugin file: words, `null` when the value is not text or the file is malformed and speaks of a license,
 * `undefined` when there is none. The old forms `{ "type": "MIT" }` and `licenses: [...]` are read, too; a list is a choice.
 */
export function readMetadataLicense(text: string): string | null | undefined {
  const value = parseObject(text)
  if (value === null) return LICENSE_KEY.test(text) ? null : undefined
  if (Object.hasOwn(value, 'license')) return wordsOfValue(value.license)
  if (!Object.hasOwn(value, 'licenses')) return undefined
  const list = value.licenses
  const words = Array.isArray(list) ? list.map(wordsOfValue) : [null]
  return words.length > 0 && words.every(word => typeof word === 'string') ? words.join(' OR ') : null
}

/** The line of a package or plugin file that names its license, from 1; `undefined` where several fields do, as in a marketplace. */
export function lineOfMetadataLicense(text: string): number | undefined {
  const [field, other] = text.matchAll(/"licenses?"\s*:/g)
  return field === undefined || other !== undefined ? undefined : text.slice(0, field.index).split('\n').length
}

/** The words of each plugin of a marketplace, by folder; `null` when they are not text. */
export type PluginLicenses = ReadonlyMap<RepoPath, string | null>

/**
 * The `license` of the plugins that a `marketplace.json` lists, by the folder of the plugin. Where several share a folder and differ, the one
 * that restricts counts, since each takes a part of it; at the root, where the parts are all others, none does.
 */
export function readMarketplace(text: string, folderOf: (source: string) => RepoPath | null): PluginLicenses {
  const value = parseObject(text)
  const plugins = Array.isArray(value?.plugins) ? value.plugins.filter(isObject) : []
  const metadata = isObject(value?.metadata) ? value.metadata : {}
  const base = typeof metadata.pluginRoot === 'string' ? `${metadata.pluginRoot}/` : ''
  const found = new Map<RepoPath, string | null>()
  const mixed = new Set<RepoPath>()
  for (const { source, license } of plugins) {
    const folder = typeof source === 'string' ? folderOf(`${base}${source}`) : null
    if (folder === null) continue
    const words = license === undefined ? undefined : wordsOfValue(license)
    const known = found.get(folder)
    if (words === undefined || (known !== undefined && known !== words)) mixed.add(folder)
    if (words !== undefined && !isRestricted(known)) found.set(folder, words)
  }
  for (const folder of mixed) if (folder === ROOT || !isRestricted(found.get(folder))) found.delete(folder)
  return found
}

function isRestricted(words: string | null | undefined): boolean {
  if (typeof words !== 'string') return false
  const meaning = readLicenseWords(words)
  return meaning.kind === 'restricted' || (meaning.kind === 'expression' && kindOfExpression(meaning.expression) === 'restricted')
}

/** Whether the text of a manifest or of a list of files has a field that names a license. */
export function declaresLicense(text: string): boolean {
  return /^[ \t"']*licen[cs]es?["']?[ \t]*[:=]/im.test(text)
}

/** Also in the looser spellings of JSON with comments. */
const LICENSE_KEY = /\blicen[cs]es?["']?\s*:/i

function wordsOfValue(value: unknown): string | null {
  if (typeof value === 'string') return value
  return isObject(value) && typeof value.type === 'string' ? value.type : null
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
