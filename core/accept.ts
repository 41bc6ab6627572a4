/** One member of a header such as `accept`, `accept-encoding` or `accept-language`. */
export interface Preference {
  /** In lower case, without its parameters. */
  value: string
  /** 0 to 1; 0 refuses the value, and so does a weight that is no number. */
  weight: number
}

/** Those of browsers have some hundred. The rest of a longer one is not read. */
const HEADER_CHARACTERS = 1_000

/** The members of a header with weights (RFC 9110, 12.4.2), in the order of the header. */
export function parsePreferences(header: string): Preference[] {
  const members = header.slice(0, HEADER_CHARACTERS).toLowerCase().split(',')
  return members.flatMap(member => {
    const [value = '', ...parameters] = member.split(';').map(part => part.trim())
    const weight = parameters.find(parameter => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '') ?? '1'
    return value === '' ? [] : [{ value, weight: /^(?:[01](?:\.\d*)?|\.\d+)$/.test(weight) ? Math.min(1, Number(weight)) : 0 }]
  })
}

/** The weight of the first of these values that the header names; `undefined` when it names none. */
export function weightOf(preferences: readonly Preference[], values: readonly string[]): number | undefined {
  for (const value of values) {
    const weights = preferences.filter(preference => preference.value === value).map(({ weight }) => weight)
    if (weights.length > 0) return Math.max(...weights)
  }
  return undefined
}

/** The weight of a media type: of the range that names it most closely (RFC 9110, 12.5.1). Without a header, every type is welcome. */
export function weightOfType(preferences: readonly Preference[], type: string): number {
  if (preferences.length === 0) return 1
  return weightOf(preferences, [type, type.replace(/\/.*/, '/*'), '*/*']) ?? 0
}
