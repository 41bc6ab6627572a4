/** The tag as BCP 47 spells it; `null` when it is none. */
export function canonicalTag(tag: string): string | null {
  if (!/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/.test(tag)) return null
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null
  } catch {
    return null
  }
}
