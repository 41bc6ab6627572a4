/** JSON with the keys of every object sorted and `undefined` left out: the same value always gives the same text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    // Fast path: long lists hold numbers, without keys to sort.
    if (typeof value[0] === 'number' && value.every(item => typeof item === 'number')) return JSON.stringify(value)
    let items = ''
    for (const item of value) items += `${items === '' ? '' : ','}${item === undefined ? 'null' : canonicalJson(item)}`
    return `[${items}]`
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  // Texts are joined as they come: a list of the fields of each row would be garbage a moment later.
  let fields = ''
  for (const key of sortedKeys(value)) {
    const field = (value as Record<string, unknown>)[key]
    if (field === undefined) continue
    const name = PLAIN_KEY.test(key) ? `"${key}"` : JSON.stringify(key)
    fields += `${fields === '' ? '' : ','}${name}:${canonicalJson(field)}`
  }
  return `{${fields}}`
}

/** Most rows come with their keys in order, and looking is cheaper than sorting. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value)
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return keys.sort()
  }
  return keys
}

/** Needs no escapes. */
const PLAIN_KEY = /^\w+$/
