/** The fields of a form. Each has one value. */
export type Form = ReadonlyMap<string, string>

/**
 * Parses a body of the type `application/x-www-form-urlencoded`; `null` when it is malformed or a parameter is repeated (RFC 6749, 3.2).
 * Parameters without a value are left out, as the same section demands.
 */
export function parseForm(text: string): Form | null {
  const form = new Map<string, string>()
  const seen = new Set<string>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1))
    if (name === null || value === null || seen.has(name)) return null
    seen.add(name)
    if (value !== '') form.set(name, value)
  }
  return form
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
