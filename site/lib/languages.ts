/** Of a header `accept-language`; further ones are ignored. */
const PREFERENCES = 20

/** The language tags of a header `accept-language`, most wanted first. */
export function wantedLanguages(header: string): string[] {
  const items = header.split(',', PREFERENCES).map((item, index) => {
    const [, tag = '', weight = '1'] = /^([A-Za-z0-9-]{1,35})\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?))?$/.exec(item.trim()) ?? []
    return { tag, weight: Number(weight), index }
  })
  const wanted = items.filter(({ tag, weight }) => tag !== '' && weight > 0)
  return wanted.sort((left, right) => right.weight - left.weight || left.index - right.index).map(({ tag }) => tag)
}

/** The available language that is wanted most; without one English, or else the first. `null` when none is available. */
export function chooseLanguage(wanted: readonly string[], available: readonly string[]): string | null {
  const primary = (tag: string) => tag.split('-', 1)[0]?.toLowerCase()
  for (const tag of [...wanted, 'en']) {
    const same =
      available.find(one => one.toLowerCase() === tag.toLowerCase()) ?? available.find(one => primary(one) === primary(tag))
    if (same !== undefined) return same
  }
  return available[0] ?? null
}
