import { visibleLine } from '#core/hidden-text.ts'
import { KEYWORD_CHARACTERS, KEYWORDS } from '#core/limits.ts'
import { truncateCharacters } from '#core/text.ts'
import { fieldOf, type YamlMapping } from './front-matter.ts'

/** The `keywords` and `tags` of front matter, one per line. Each is a list, or one string with commas. */
export function keywordsOf(...mappings: readonly YamlMapping[]): string {
  const values = mappings.flatMap(mapping => [fieldOf(mapping, 'keywords'), fieldOf(mapping, 'tags')])
  const words = values.flatMap(value => (typeof value === 'string' ? value.split(/[,，、]/) : Array.isArray(value) ? value : []))
  const keywords = new Set<string>()
  for (const word of words) {
    const keyword = typeof word === 'string' ? truncateCharacters(visibleLine(word), KEYWORD_CHARACTERS) : ''
    if (keyword !== '') keywords.add(keyword)
    if (keywords.size === KEYWORDS) break
  }
  return [...keywords].join('\n')
}
