/** The languages of the pages, by their tag, each in its own words. */
export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGE_NAMES
export const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[]
