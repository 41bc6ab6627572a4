/** Lines that are looked at before others get their turn. */
const LINES_AT_ONCE = 4_096

/**
 * Calls `see` with the next lines of a text: each with its `\n`, the last one may have none. A carriage return is a part of its line.
 *
 * @param from where a line begins
 * @returns where the next line begins; the length of the text at its end
 */
export function eachLine(text: string, from: number, see: (line: string, start: number) => void): number {
  let at = from
  for (let lines = 0; lines < LINES_AT_ONCE && at < text.length; lines++) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline + 1
    see(text.slice(at, end), at)
    at = end
  }
  return at
}
