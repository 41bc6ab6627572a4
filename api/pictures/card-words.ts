import { parsePreferences } from '#core/accept.ts'
import type { Translations } from '#core/contract/shared.ts'
import { canonicalTag } from '../operator/language-tag.ts'

/** The words of cards, whole phrases in each language. `{n}` is the number. */
interface Words {
  skills: Phrases
  documents: Phrases
  verified: string
}

type Phrases = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

const WORDS: Readonly<Record<string, Words>> = {
  en: {
    skills: { one: '{n} skill', other: '{n} skills' },
    documents: { one: '{n} document', other: '{n} documents' },
    verified: 'verified',
  },
  de: {
    skills: { one: '{n} Skill', other: '{n} Skills' },
    documents: { one: '{n} Dokument', other: '{n} Dokumente' },
    verified: 'geprüft',
  },
  fr: {
    skills: { one: '{n} compétence', other: '{n} compétences' },
    documents: { one: '{n} document', other: '{n} documents' },
    verified: 'vérifié',
  },
  es: {
    skills: { one: '{n} habilidad', other: '{n} habilidades' },
    documents: { one: '{n} documento', other: '{n} documentos' },
    verified: 'verificado',
  },
  it: {
    skills: { one: '{n} competenza', other: '{n} competenze' },
    documents: { one: '{n} documento', other: '{n} documenti' },
    verified: 'verificato',
  },
  pt: {
    skills: { one: '{n} competência', other: '{n} competências' },
    documents: { one: '{n} documento', other: '{n} documentos' },
    verified: 'verificado',
  },
  nl: {
    skills: { one: '{n} skill', other: '{n} skills' },
    documents: { one: '{n} document', other: '{n} documenten' },
    verified: 'geverifieerd',
  },
  pl: {
    skills: { one: '{n} umiejętność', other: '{n} umiejętności' },
    documents: { one: '{n} dokument', few: '{n} dokumenty', other: '{n} dokumentów' },
    verified: 'zweryfikowane',
  },
  ru: {
    skills: { one: '{n} навык', few: '{n} навыка', other: '{n} навыков' },
    documents: { one: '{n} документ', few: '{n} документа', other: '{n} документов' },
    verified: 'проверено',
  },
  uk: {
    skills: { one: '{n} навичка', few: '{n} навички', other: '{n} навичок' },
    documents: { one: '{n} документ', few: '{n} документи', other: '{n} документів' },
    verified: 'перевірено',
  },
  el: {
    skills: { one: '{n} δεξιότητα', other: '{n} δεξιότητες' },
    documents: { one: '{n} έγγραφο', other: '{n} έγγραφα' },
    verified: 'επαληθευμένο',
  },
  tr: { skills: { other: '{n} beceri' }, documents: { other: '{n} belge' }, verified: 'doğrulandı' },
  zh: { skills: { other: '{n} 项技能' }, documents: { other: '{n} 篇文档' }, verified: '已核实' },
  ja: { skills: { other: 'スキル {n} 件' }, documents: { other: '文書 {n} 件' }, verified: '確認済み' },
  ko: { skills: { other: '스킬 {n}개' }, documents: { other: '문서 {n}개' }, verified: '확인됨' },
  ar: {
    skills: { one: 'مهارة واحدة', two: 'مهارتان', few: '{n} مهارات', other: '{n} مهارة' },
    documents: { one: 'مستند واحد', two: 'مستندان', few: '{n} مستندات', many: '{n} مستندًا', other: '{n} مستند' },
    verified: 'موثّق',
  },
  he: {
    skills: { one: 'מיומנות אחת', two: 'שתי מיומנויות', other: '{n} מיומנויות' },
    documents: { one: 'מסמך אחד', two: 'שני מסמכים', other: '{n} מסמכים' },
    verified: 'מאומת',
  },
  hi: { skills: { other: '{n} कौशल' }, documents: { other: '{n} दस्तावेज़' }, verified: 'सत्यापित' },
  th: { skills: { other: '{n} ทักษะ' }, documents: { other: '{n} เอกสาร' }, verified: 'ยืนยันแล้ว' },
}

export const WORD_LANGUAGES: readonly string[] = Object.keys(WORDS)

export interface CountedFacts {
  skills: number
  documents: number
  verified: boolean
  /** Name of the license; `null` without one. */
  license: string | null
}

/** The facts as phrases. What there is none of is left out. @param lang one of `WORD_LANGUAGES` */
export function factsIn(lang: string, { skills, documents, verified, license }: CountedFacts): string[] {
  const words = WORDS[lang] ?? WORDS.en
  if (words === undefined) return []
  return [
    ...(skills > 0 ? [phrase(lang, words.skills, skills)] : []),
    ...(documents > 0 ? [phrase(lang, words.documents, documents)] : []),
    ...(license === null ? [] : [license]),
    ...(verified ? [words.verified] : []),
  ]
}

function phrase(lang: string, phrases: Phrases, count: number): string {
  const text = phrases[new Intl.PluralRules(lang).select(count)] ?? phrases.other
  return text.replace('{n}', new Intl.NumberFormat(`${lang}-u-nu-latn`).format(count))
}

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
