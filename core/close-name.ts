/** The known name that a misspelled one means; `null` when none is close. */
export function closeName(written: string, known: readonly string[]): string | null {
  if (written.length > LONGEST) return null
  const plain = plainOf(written)
  const alias = ALIASES.get(plain)
  if (alias !== undefined && known.includes(alias)) return alias
  const distances = known.map(name => ({ name, distance: distanceOf(plain, plainOf(name)) }))
  const [closest] = distances.sort((left, right) => left.distance - right.distance)
  return closest && closest.distance <= (plain.length < 8 ? 1 : 2) ? closest.name : null
}

const LONGEST = 64

/** Other words for the same thing. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['desc', 'description'],
  ['ignore', 'exclude'],
  ['lang', 'language'],
  ['picture', 'image'],
  ['title', 'name'],
])

function plainOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** The number of letters to insert, remove, replace or swap with their neighbour. */
function distanceOf(left: string, right: string): number {
  const rows = [Array.from({ length: right.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= left.length; row++) {
    rows.push([row])
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          ...(isSwapped ? [at(row - 2, column - 2) + 1] : []),
        ),
      )
    }
  }
  return at(left.length, right.length)
}
