/** The values with which a template gives the text; `null` when it does not. Names of numbers end in `n` or `Limit`. */
export function readBack(template: string, text: string): Record<string, string> | null {
  const pattern = patterns.get(template) ?? patternOf(template)
  patterns.set(template, pattern)
  const found = pattern.exec(text)
  return found && { ...found.groups }
}

function patternOf(template: string): RegExp {
  const parts = template.split(/\{(\w+)\}/)
  const source = parts.map((part, index) => (index % 2 === 0 ? RegExp.escape(part) : `(?<${part}>${valuePattern(part)})`))
  return new RegExp(`^${source.join('')}$`, 's')
}

function valuePattern(name: string): string {
  return /^n$|limit$/i.test(name) ? '\\d+' : '.+'
}

const patterns = new Map<string, RegExp>()
