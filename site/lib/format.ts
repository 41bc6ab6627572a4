import type { License } from '#core/contract/shared.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'

const numbers = new Intl.NumberFormat('en')

export function formatNumber(value: number): string {
  return numbers.format(value)
}

/** `1 skill`, `12 skills`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`
}

export function formatBytes(sizeBytes: number): string {
  if (sizeBytes < 1024) return formatCount(sizeBytes, 'byte')
  const [amount, unit] = sizeBytes < 1024 * 1024 ? [sizeBytes / 1024, 'KiB'] : [sizeBytes / (1024 * 1024), 'MiB']
  return `${amount < 10 ? amount.toFixed(1) : formatNumber(Math.round(amount))} ${unit}`
}

/** A waiting time, with its end if it is over a minute: `42 seconds`, `12 minutes, until 2026-11-20 21:52 UTC`. */
export function formatWait(seconds: number, now: Date): string {
  if (seconds <= MINUTE_SECONDS) return formatCount(seconds, 'second')
  const minutes = Math.ceil(seconds / MINUTE_SECONDS)
  // Rounded up to the next full minute, so that a retry at that time is not early.
  const until = Math.ceil((now.getTime() / 1000 + seconds) / MINUTE_SECONDS) * MINUTE_SECONDS
  return `${formatCount(minutes, 'minute')}, until ${formatInstant(new Date(until * 1000).toISOString())}`
}

const MINUTE_SECONDS = 60

/** `2026-11-20 21:52 UTC` */
export function formatInstant(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`
}

export function formatLicense({ kind, name }: License): string {
  if (name !== null) return name
  return kind === 'none' ? 'no license found' : `${kind} license`
}

/** A front-matter field on one line: words, `one, two` of a list, `key: words, …` of a map. */
export function formatField(value: FrontMatterValue): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.join(', ')
  return Object.entries(value)
    .map(([key, words]) => `${key}: ${words}`)
    .join(', ')
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

/** The message of an error without its advice to try again, for a page that says when. */
export function withoutRetry(message: string): string {
  return message.replace(/; try again (?:later|after [^;]*)$/, '')
}

/** The message of an error as a sentence. Not for warnings and diagnostics: they may begin with a path, which keeps its spelling. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
