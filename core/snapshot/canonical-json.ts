/** JSON with the keys of every object sorted and `undefined` left out: the same value always gives the same text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    // Fast path: long lists hold numbers, without keys to sort.
    if (typeof value[0] === 'number' && value.every(item => typeof item === 'number')) return JSON.stringify(value)
    return `[${value.map(item => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields: string[] = []
  for (const key of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[key]
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(field)}`)
  }
  return `{${fields.join(',')}}`
}
