import type { License } from '#core/contract/shared.ts'
import type { ChosenLanguage } from '#core/page-language.ts'
import { LANGUAGES, type Language, PAGE_T, type PageT } from '#words/t.ts'

/** A language in use: its words, and how it formats numbers, dates and plurals. */
export interface Ui extends ChosenLanguage {
  t: PageT
  /** `1,200` */
  number(value: number): string
  /** `950`, `2.1k`, `12k` */
  short(value: number): string
  /** `7 bytes`, `4.2 KiB` */
  bytes(sizeBytes: number): string
  /** `2026-11-20 21:52 UTC`, of an ISO 8601 instant */
  instant(instant: string): string
  /** `20 Nov 2026`, of an ISO 8601 instant */
  day(instant: string): string
  /** A waiting time, with its end if it is over a minute: `42 seconds`, `12 minutes, until 2026-11-20 21:52 UTC`. */
  wait(seconds: number, now: Date): string
  license(license: Pick<License, 'kind' | 'name'>): string
  /** Alternatives or members of a list: `a, b or c`. */
  join(parts: readonly string[], type: 'conjunction' | 'disjunction'): string
}

const KIBIBYTE = 1024
const MINUTE_SECONDS = 60

function createUi(language: Language, isChosen: boolean): Ui {
  const t = PAGE_T[language]
  const numbers = new Intl.NumberFormat(language)
  const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const months = new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' })
  const lists = {
    conjunction: new Intl.ListFormat(language, { type: 'conjunction' }),
    disjunction: new Intl.ListFormat(language, { type: 'disjunction' }),
  }
  const number = (value: number) => numbers.format(value)
  const date = (instant: string, format: 'day' | 'instant') => {
    const [, year = '', month = '', day = '', time = ''] = /^(\d+)-(\d\d)-(\d\d)(?:T(\d\d:\d\d))?/.exec(instant) ?? []
    const name = month === '' ? '' : months.format(new Date(Date.UTC(2000, Number(month) - 1)))
    return (
      t.find(`formats.${format}`, {
        year,
        month: format === 'day' ? name : month,
        day: format === 'day' ? Number(day) : day,
        time,
      }) ?? instant
    )
  }
  const instant = (text: string) => date(text, 'instant')
  return {
    language,
    isChosen,
    t,
    number,
    short: value =>
      value < 1000 ? number(value) : `${value < 9950 ? tenths.format(value / 1000) : number(Math.round(value / 1000))}k`,
    instant,
    day: text => date(text, 'day'),
    bytes(sizeBytes) {
      if (sizeBytes < KIBIBYTE) return t('counts.byte', { n: sizeBytes })
      const [amount, unit] = sizeBytes < KIBIBYTE ** 2 ? [sizeBytes / KIBIBYTE, 'KiB'] : [sizeBytes / KIBIBYTE ** 2, 'MiB']
      return `${amount < 10 ? tenths.format(amount) : number(Math.round(amount))} ${unit}`
    },
    wait(seconds, now) {
      if (seconds <= MINUTE_SECONDS) return t('counts.second', { n: seconds })
      const minutes = t('counts.minute', { n: Math.ceil(seconds / MINUTE_SECONDS) })
      // Rounded up to the next full minute, so that a retry at that time is not early.
      const until = Math.ceil((now.getTime() / 1000 + seconds) / MINUTE_SECONDS) * MINUTE_SECONDS
      return t('formats.wait', { minutes, instant: instant(new Date(until * 1000).toISOString()) })
    },
    license: ({ kind, name }) => name ?? t(`license.${kind}`),
    join: (parts, type) => lists[type].format(parts),
  }
}

const UIS = new Map(
  LANGUAGES.flatMap(language => [false, true].map(isChosen => [`${language} ${isChosen}`, createUi(language, isChosen)])),
)

/** The same object for the same language. */
export function uiFor({ language, isChosen }: ChosenLanguage): Ui {
  return UIS.get(`${language} ${isChosen}`) as Ui
}

/** English, for agents and commands. */
export const ENGLISH = uiFor({ language: 'en', isChosen: false })

/** A piece of a sentence. */
export type PhrasePart =
  | { kind: 'text' | 'code' | 'slot'; text: string }
  /** `text` may have slots. */
  | { kind: 'link'; text: string; target: string }

/** The pieces of a sentence of the catalogue, in order. */
export function readPhrase(sentence: string): PhrasePart[] {
  const parts: PhrasePart[] = []
  let from = 0
  for (const { 0: whole, 1: words, 2: target = '', 3: code, 4: slot, index } of sentence.matchAll(PIECE)) {
    if (index > from) parts.push({ kind: 'text', text: sentence.slice(from, index) })
    if (words !== undefined) parts.push({ kind: 'link', text: words, target })
    else if (code !== undefined) parts.push({ kind: 'code', text: code })
    else parts.push({ kind: 'slot', text: slot ?? '' })
    from = index + whole.length
  }
  if (from < sentence.length) parts.push({ kind: 'text', text: sentence.slice(from) })
  return parts
}

const PIECE = /\[([^\]]+)\]\((\w+)\)|`([^`]+)`|\{(\w+)\}/g

/** A path of this site with the language of the page, if the URL chose it. */
export function carryLanguage(href: string, { language, isChosen }: ChosenLanguage): string {
  if (!isChosen) return href
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(href) ?? []
  if (/[?&]lang=/.test(query)) return href
  return `${path}${query === '' ? '?' : `${query}&`}lang=${language}${fragment}`
}
