/**
 * What a package or plugin file says under `license`: words, `null` when it says something that is no text, `undefined` when it says nothing
 * or is no JSON object. The old forms `{ "type": "MIT" }` and `licenses: [...]` are read as well; a list is a choice.
 */
export function readMetadataLicense(text: string): string | null | undefined {
  const value = parseObject(text)
  if (value === null) return undefined
  if (Object.hasOwn(value, 'license')) return wordsOfValue(value.license)
  if (!Object.hasOwn(value, 'licenses')) return undefined
  const list = value.licenses
  const words = Array.isArray(list) ? list.map(wordsOfValue) : [null]
  return words.length > 0 && words.every(word => typeof word === 'string') ? words.join(' OR ') : null
}

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
