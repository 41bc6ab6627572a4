/** The text with one character, by default its last one, replaced by another: it never is the same text again, whatever it was. */
export function mistyped(text: string, at = text.length - 1): string {
  return `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`
}
