import type { FrontMatterValue } from '#core/contract/skill.ts'
import { messageKeyOf } from '#core/errors.ts'
import type { REASONS } from '#words/en/findings.ts'
import { fill, type Ui } from './ui.ts'

/** A front-matter field on one line: words, `one, two` of a list, `key: words, …` of a map. */
export function formatField(value: FrontMatterValue): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.join(', ')
  return Object.entries(value)
    .map(([key, words]) => `${key}: ${words}`)
    .join(', ')
}

/** What an error says in the language of the page; `undefined` where its own message has to do. */
export function wordsOfError({ code, message }: { code: string; message: string }, { words }: Ui): string | undefined {
  return words.errors[messageKeyOf(code, message) ?? code] ?? words.errors[code]
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

/** The first line that a finding names in its words, from 1; `null` when it names none. */
export function lineOf(message: string): number | null {
  const line = /\blines? (\d{1,7})\b/.exec(message)?.[1]
  return line === undefined || Number(line) === 0 ? null : Number(line)
}

/**
 * The words of a finding around those that name its first line; `null` when it names none.
 *
 * @param message in English
 * @param said the message in the language of `reasons`
 */
export function aroundLine(message: string, said: string, reasons: Pick<typeof REASONS, 'line' | 'lines'>) {
  const line = lineOf(message)
  if (line === null) return null
  const place = [fill(reasons.line, { n: line }), fill(reasons.lines, { list: line })].find(words => said.includes(words))
  if (place === undefined) return null
  const at = said.lastIndexOf(place)
  return { line, before: said.slice(0, at), place, after: said.slice(at + place.length) }
}

/** The value for an attribute `lang`, or none: a repository can declare any text as its language. */
export function languageTag(declared: string | null | undefined): string | undefined {
  return declared && /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(declared) ? declared : undefined
}

/**
 * The message of an error without its advice to try again, for a page that says when.
 *
 * @param retry how the advice begins
 */
export function withoutRetry(message: string, retry: string): string {
  const at = message.lastIndexOf(`; ${retry}`)
  return at < 0 ? message : message.slice(0, at)
}

/** The message of an error as a sentence. Not for warnings and diagnostics: they may begin with a path, which keeps its spelling. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
