import type { Translations } from '#core/contract/shared.ts'
import { visibleLine, visibleText } from '#core/hidden-text.ts'
import { DESCRIPTION_CHARACTERS, MANIFEST_NAME_CHARACTERS, TRANSLATION_TAGS } from '#core/limits.ts'
import { truncateCharacters } from '#core/text.ts'
import { isMapping, textOf, type YamlValue } from './front-matter.ts'

/** Reads names and descriptions by language tag. Other values are dropped and make `valid` false. */
export function readTranslations(declared: YamlValue | undefined): { translations: Translations; valid: boolean } {
  if (declared === undefined) return { translations: {}, valid: true }
  if (!isMapping(declared)) return { translations: {}, valid: false }
  const translations: Translations = {}
  let valid = true
  for (const [declaredTag, value] of Object.entries(declared)) {
    const tag = canonicalLanguage(declaredTag)
    if (tag === null || !isMapping(value) || Object.keys(translations).length >= TRANSLATION_TAGS) {
      valid = false
      continue
    }
    const name = textOf(value, 'name')
    const description = textOf(value, 'description')
    if (name === null && description === null) valid = false
    else {
      translations[tag] = {
        ...(name === null ? {} : { name: truncateCharacters(visibleLine(name), MANIFEST_NAME_CHARACTERS) }),
        ...(description === null ? {} : { description: truncateCharacters(visibleText(description), DESCRIPTION_CHARACTERS) }),
      }
    }
  }
  return { translations, valid }
}

/** The canonical BCP 47 form of a tag: `pt-BR` for `pt-br` and `pt_BR`; `null` when it is not a tag. */
export function canonicalLanguage(tag: string): string | null {
  const dashed = tag.trim().replaceAll('_', '-')
  if (!/^[A-Za-z]{2,3}(?:-|$)/.test(dashed)) return null
  try {
    return Intl.getCanonicalLocales(dashed)[0] ?? null
  } catch {
    return null
  }
}
