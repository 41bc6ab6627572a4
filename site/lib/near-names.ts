const NEAR = 5
/** Longer names are compared with no other: the cost grows with the square. */
const NAME_CHARACTERS = 100
const PART_CHARACTERS = 3

/** Names that differ from another by a few letters, by their case, or by more words; the nearest first. */
export function nearNames(names: readonly string[], name: string): string[] {
  const wanted = fold(name)
  if (wanted === '' || wanted.length > NAME_CHARACTERS) return []
  const scored = names.flatMap(candidate => {
    const found = fold(candidate)
    if (found === '' || found.length > NAME_CHARACTERS) return []
    const distance = found === wanted ? 0 : isPartOf(found, wanted) || isPartOf(wanted, found) ? 0.5 : editDistance(found, wanted)
    return distance < wanted.length && distance <= Math.max(1, wanted.length / 4) ? [{ candidate, distance }] : []
  })
  return scored
    .sort((left, right) => left.distance - right.distance)
    .slice(0, NEAR)
    .map(({ candidate }) => candidate)
}

/** A letter or two are a part of very many names. */
function isPartOf(name: string, part: string): boolean {
  return part.length >= PART_CHARACTERS && name.includes(part)
}

/** Lower case, without the extension and what separates words. */
function fold(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.[a-z]+$/, '')
    .replace(/[-_. ]/g, '')
}

/** How many letters have to be changed, added or taken away. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1]
    for (let column = 1; column <= right.length; column++) {
      const changed = (row[column - 1] ?? 0) + (letter === right[column - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
