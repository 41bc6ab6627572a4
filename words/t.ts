import { DE } from './de/de.ts'
import { EN, PAGES } from './en/en.ts'
import { scrubbed } from './scrubbed.ts'

/** The languages of the pages, by their tag, each in its own words. */
export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGE_NAMES
export const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[]

/** A sentence of the catalogue. */
export interface Said {
  key: string
  values?: Values | undefined
}
/** What stands in a gap: a text, a number, or another sentence. */
export type Value = string | number | Said
export type Values = Readonly<Record<string, Value>>

/** Of an error the message is told. */
type Spelled = Value | { message: string }
type Gaps = Readonly<Record<string, Spelled>>

/** The forms of a counted word, by the plural category of `n`. */
type Forms = Readonly<{ one: string; other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>

/** `section.name` of every sentence. */
export type KeyOf<Catalogue> = {
  [Name in keyof Catalogue & (string | number)]: Catalogue[Name] extends string | Forms
    ? `${Name}`
    : `${Name}.${KeyOf<Catalogue[Name]>}`
}[keyof Catalogue & (string | number)]

type TextOf<Catalogue, Key extends string> = Key extends keyof Catalogue
  ? Catalogue[Key]
  : Key extends `${infer Section}.${infer Rest}`
    ? Section extends keyof Catalogue
      ? TextOf<Catalogue[Section], Rest>
      : never
    : never

type GapsOf<Text> = Text extends { other: infer Other }
  ? 'n' | GapsOf<Other>
  : Text extends `${string}{${infer Name}}${infer Rest}`
    ? (Name extends `${string}${' ' | '"'}${string}` ? never : Name) | GapsOf<Rest>
    : never
type ValueOf<Text> = Text extends Forms ? number : Spelled
export type Given<Text> = [GapsOf<Text>] extends [never]
  ? []
  : [values: { readonly [Name in GapsOf<Text>]: Name extends 'n' ? ValueOf<Text> : Spelled }]

/** Says a sentence of a catalogue in one language. */
export interface T<Catalogue> {
  /** @param values one for each gap `{name}`; the `n` of a counted word chooses its form */
  <Key extends KeyOf<Catalogue>>(key: Key, ...values: Given<TextOf<Catalogue, Key>>): string
  /** The same for a key that is made at run time: `undefined` where there is no such sentence. Gaps without a value stay. */
  find(key: string, values?: Gaps): string | undefined
}

/** @param largest whole number without marks between thousands. Commands print plain numbers, which programs read as well. */
function createT<Catalogue extends object>(catalogue: Catalogue, language: Language, largest = Infinity): T<Catalogue> {
  const texts = new Map(sentencesOf(catalogue))
  const numbers = new Intl.NumberFormat(language)
  const plurals = new Intl.PluralRules(language)

  function find(key: string, values: Gaps = {}): string | undefined {
    const text = texts.get(key)
    if (text === undefined) return undefined
    const n = Number(values.n)
    const counted = typeof text === 'string' ? {} : { n: numbers.format(n) }
    const said = fill(typeof text === 'string' ? text : (text[plurals.select(n)] ?? text.other), { ...values, ...counted })
    // What is wrong with a setting may quote a URL with a password.
    return key.startsWith('problem.') ? scrubbed(said) : said
  }

  /** The template with its values. A value may have braces of its own. */
  function fill(template: string, values: Gaps): string {
    if (!template.includes('{')) return template
    return template.replace(/\{(\w+)\}/g, (gap, name: string) => (Object.hasOwn(values, name) ? spell(values[name] ?? '') : gap))
  }

  function spell(value: Spelled): string {
    if (typeof value === 'number' && value > largest) return numbers.format(value)
    if (typeof value !== 'object') return String(value)
    return 'key' in value ? (find(value.key, value.values) ?? value.key) : scrubbed(value.message)
  }

  return Object.assign((key: string, values?: Gaps) => find(key, values) ?? key, { find })
}

/** The sentences of a catalogue with their keys. */
export function* sentencesOf(catalogue: object, prefix = ''): Generator<[key: string, text: string | Forms]> {
  for (const [name, part] of Object.entries(catalogue)) {
    if (typeof part === 'string' || isForms(part)) yield [prefix + name, part]
    else yield* sentencesOf(part, `${prefix}${name}.`)
  }
}

function isForms(part: Partial<Forms>): part is Forms {
  return typeof part.one === 'string' && typeof part.other === 'string'
}

/** English: what commands print, and what the interface answers. */
export const t = createT(EN, 'en')

/** On pages, numbers of five digits and more have marks: `500 lines`, `20,000 bytes`. */
const UNMARKED = 9_999

/** What pages say. */
export type PageT = T<typeof PAGES>
export type PageKey = KeyOf<typeof PAGES>
export const PAGE_T: Readonly<Record<Language, PageT>> = {
  en: createT(PAGES, 'en', UNMARKED),
  de: createT(DE, 'de', UNMARKED) as PageT,
}

const NUMBERS = new Intl.NumberFormat('en')

/** `1,200` */
export function formatNumber(value: number): string {
  return NUMBERS.format(value)
}

/** `1.2`: rounded to tenths, without marks between thousands. */
export function formatTenths(value: number): string {
  return value.toFixed(1)
}
