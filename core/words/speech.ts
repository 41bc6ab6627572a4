import { DE } from './de.ts'
import { type CommandWords, EN } from './en.ts'
import { fill } from './fill.ts'

export { fill } from './fill.ts'

/** The languages of the commands, by their tag. */
const WORDS = { en: EN, de: DE } as const satisfies Record<string, CommandWords>
export type SpokenLanguage = keyof typeof WORDS

/** A language of the commands: its words, and how it formats numbers and plurals. */
export interface Speech {
  language: SpokenLanguage
  words: CommandWords
  /** `1,200` */
  number(value: number): string
  /** `1.2`: rounded to tenths, without marks between thousands */
  tenths(value: number): string
  /** `1 skill`, `12 skills` */
  count(value: number, forms: CountForms): string
}

/** A counted word, by the plural category of the number. */
type CountForms = CommandWords['counts'][keyof CommandWords['counts']]

/** The language of a terminal. @param env names it by the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty, as in POSIX. Default: English */
export function speechOf(env: Readonly<Record<string, string | undefined>>): Speech {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || ''
  const language = /^[a-z]+/.exec(locale.toLowerCase())?.[0] ?? ''
  return SPEECHES.get(language) ?? ENGLISH_SPEECH
}

function speak(language: SpokenLanguage): Speech {
  const numbers = new Intl.NumberFormat(language)
  const plurals = new Intl.PluralRules(language)
  const mark = numbers.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.'
  return {
    language,
    words: WORDS[language],
    number: value => numbers.format(value),
    tenths: value => value.toFixed(1).replace('.', mark),
    count: (value, forms) => fill(plurals.select(value) === 'one' ? forms.one : forms.other, { n: numbers.format(value) }),
  }
}

export const ENGLISH_SPEECH = speak('en')
const SPEECHES = new Map<string, Speech>([
  ['en', ENGLISH_SPEECH],
  ['de', speak('de')],
])
