import type { FrontMatterValue } from '#core/contract/skill.ts'
import { findingOf } from '#core/finding-messages.ts'
import type { ApiError } from './api-client.ts'
import type { Ui } from './ui.ts'

/** A front-matter field on one line: words, `one, two` of a list, `key: words, …` of a map. */
export function formatField(value: FrontMatterValue): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.join(', ')
  return Object.entries(value)
    .map(([key, words]) => `${key}: ${words}`)
    .join(', ')
}

type ErrorToSay = Pick<ApiError, 'code' | 'reason' | 'retryAfter'>

/** What an error says in the language of the page; `undefined` where its own message has to do. */
export function wordsOfError(error: ErrorToSay, { t }: Pick<Ui, 't'>): string | undefined {
  const of = error.reason ?? (error.retryAfter === undefined ? findingOf(error)?.case : 'wait')
  return t.find(`errorOnPage.${error.code}:${of}`) ?? t.find(`errorOnPage.${error.code}`)
}

/** The title of an error: by its reason, its code, or its status. */
export function titleOfError({ code, reason }: ErrorToSay, status: number, { t }: Pick<Ui, 't'>): string {
  const isAddress = code.startsWith('address.') || code === 'owner.invalid'
  const isElsewhere = code === 'address.unknown_host'
  const kinds = [
    reason,
    isElsewhere && '403',
    code === 'address.incomplete' && 'incomplete',
    isAddress && 'address',
    String(status),
  ]
  return kinds.map(kind => kind && t.find(`errorPage.titles.${kind}`)).find(title => title) || t('errorPage.title')
}

const SHOWN_CHARACTERS = 200

/** The beginning of a path as a request spells it, for a page that cannot read it. */
export function spelledPath(raw: string): string {
  const shown = (text: string) => {
    const characters = [...text]
    return characters.length <= SHOWN_CHARACTERS ? text : `${characters.slice(0, SHOWN_CHARACTERS).join('')}…`
  }
  try {
    return shown(decodeURI(raw))
  } catch {
    return shown(raw)
  }
}

/** The first words of a Markdown text, without its headings, on one line. */
export function textStart(content: string): string {
  const text = content.replace(/^---\n[\s\S]*?\n---\n/, '')
  const lines = text.split('\n').map(line => line.trim())
  const start = lines.find(line => /^(?:[-*>]|\d+\.)?\s*[\p{L}\p{N}*_`]/u.test(line)) ?? lines.find(line => line !== '') ?? ''
  const words = start.replace(/^(?:#+|[-*>]|\d+\.)\s+/, '').replace(/\*\*|__|`/g, '')
  return words.length <= START_CHARACTERS ? words : `${words.slice(0, START_CHARACTERS).replace(/\s\S*$/, '')} …`
}

const START_CHARACTERS = 110

/** The value for an attribute `lang`, or none: a repository can declare any text as its language. */
export function languageTag(declared: string | null | undefined): string | undefined {
  return declared && /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(declared) ? declared : undefined
}

/** The letter that stands where the picture of an owner fails. */
export function initialOf(owner: string): string {
  return owner.slice(0, 1).toUpperCase()
}

/** The message of an error as a sentence. Not for warnings and diagnostics: they may begin with a path, which keeps its spelling. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Whole days between two instants, ISO 8601; those of less than a day are none. */
export function daysBetween(from: string, to: string): number {
  return Math.floor(Math.abs(Date.parse(to) - Date.parse(from)) / DAY_MS)
}

const DAY_MS = 24 * 60 * 60 * 1000
