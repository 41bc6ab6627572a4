/** The fields of a form. Each has one value, which may be empty. */
export type Form = ReadonlyMap<string, string>

/** Content type of the forms that are read here. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Parses a form of that type; `null` when it is malformed, or has a field twice. */
export function parseForm(text: string): Form | null {
  const form = new Map<string, string>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1))
    if (name === null || value === null || form.has(name)) return null
    form.set(name, value)
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
