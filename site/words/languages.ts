/** The languages of the pages, by their tag. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** Each in its own words. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

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
  const preferences = accepted
    .slice(0, HEADER_CHARACTERS)
    .split(',')
    .map(part => {
      const [tag = '', quality = ''] = part.split(';')
      return { tag: tag.trim(), quality: Number(/^\s*q=([\d.]+)\s*$/.exec(quality)?.[1] ?? 1) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((left, right) => right.quality - left.quality)
  for (const { tag } of preferences) {
    const language = findLanguage(tag)
    if (language) return { language, isChosen: false }
  }
  return { language: 'en', isChosen: false }
}

const HEADER_CHARACTERS = 1_000

/** Ours for a tag such as `de-AT`. */
function findLanguage(tag: string): Language | undefined {
  const primary = tag.toLowerCase().split('-', 1)[0]
  return LANGUAGES.find(language => language === primary)
}
