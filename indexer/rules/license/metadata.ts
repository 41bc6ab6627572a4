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
