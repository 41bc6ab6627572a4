import type { FrontMatterValue } from '#core/contract/skill.ts'
import { findingOf } from '#core/finding-messages.ts'
import type { Ui } from './ui.ts'

/** A front-matter field on one line: words, `one, two` of a list, `key: words, …` of a map. */
export function formatField(value: FrontMatterValue): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.join(', ')
  return Object.entries(value)
    .map(([key, words]) => `${key}: ${words}`)
    .join(', ')
}

/** What an error says in the language of the page; `undefined` where its own message has to do. */
export function wordsOfError(error: { code: string; retryAfter?: number | undefined }, { t }: Pick<Ui, 't'>): string | undefined {
  const of = error.retryAfter === undefined ? findingOf(error)?.case : 'wait'
  return t.find(`errorOnPage.${error.code}:${of}`) ?? t.find(`errorOnPage.${error.code}`)
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
