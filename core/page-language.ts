import { LANGUAGES, type Language } from '#words/t.ts'
import { parsePreferences } from './accept.ts'

export interface ChosenLanguage {
  language: Language
  /** By the URL, so that the links of the page keep it. */
  isChosen: boolean
}

/**
 * The language of a page: the one that the URL names, else the visitor's first preference among ours, else English.
 *
 * @param named value of `lang` in the query
 * @param accepted the header `accept-language`
 */
export function chooseLanguage(named: string | null, accepted: string): ChosenLanguage {
  const chosen = findLanguage(named ?? '')
  if (chosen) return { language: chosen, isChosen: true }
  const wanted = parsePreferences(accepted).filter(({ weight }) => weight > 0)
  for (const { value } of wanted.sort((left, right) => right.weight - left.weight)) {
    const language = findLanguage(value)
    if (language) return { language, isChosen: false }
  }
  return { language: 'en', isChosen: false }
}

/** Ours for a tag such as `de-AT`. */
function findLanguage(tag: string): Language | undefined {
  const primary = tag.toLowerCase().split('-', 1)[0]
  return LANGUAGES.find(language => language === primary)
}
