import { parsePreferences } from '#core/accept.ts'
import type { Translations } from '#core/contract/shared.ts'
import { canonicalTag } from '../operator/language-tag.ts'
import { WORD_LANGUAGES } from './card-words.ts'

/** Language tags that are read of a header; further ones are ignored. */
const PREFERENCES = 20

/** The tags of a header `accept-language`, most wanted first, canonical. */
export function parseAcceptLanguage(header: string): string[] {
  const wanted = parsePreferences(header)
    .slice(0, PREFERENCES)
    .filter(({ weight }) => weight > 0)
  const tags = wanted.sort((left, right) => right.weight - left.weight).map(({ value }) => canonicalTag(value))
  return tags.filter(tag => tag !== null)
}

/** The language of the phrases: the first wanted one that they are in, else English. */
export function wordLanguageOf(wanted: readonly string[]): string {
  return wanted.map(primaryOf).find(language => WORD_LANGUAGES.includes(language)) ?? 'en'
}

export interface OwnText {
  name: string
  description: string | null
  /** `null` when its author does not say. */
  language: string | null
  translations: Translations
}

/** The text in the first wanted language that it has, else as it was written. */
export function textIn(wanted: readonly string[], { name, description, language, translations }: OwnText) {
  const own = { name, description, lang: language }
  for (const tag of wanted) {
    if (language !== null && primaryOf(language) === primaryOf(tag) && !Object.hasOwn(translations, tag)) return own
    const found =
      Object.keys(translations).find(one => one === tag) ??
      Object.keys(translations).find(one => primaryOf(one) === primaryOf(tag))
    const translation = found === undefined ? undefined : translations[found]
    if (found !== undefined && translation !== undefined)
      return { name: translation.name ?? name, description: translation.description ?? description, lang: found }
  }
  return own
}

export function primaryOf(tag: string): string {
  return (tag.split('-', 1)[0] ?? '').toLowerCase()
}
