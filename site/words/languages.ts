import type { Language } from '#core/words/page-language.ts'

export { type ChosenLanguage, chooseLanguage, LANGUAGES, type Language } from '#core/words/page-language.ts'

/** Each in its own words. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }
