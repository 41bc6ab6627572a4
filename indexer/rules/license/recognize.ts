import { similarTemplates } from './candidates.ts'
import { readLicenseChoice } from './choice.ts'
import { type Change, findChange } from './guard.ts'
import { kindOfExpression } from './kind.ts'
import { LICENSE_TEXT_BYTES } from './names.ts'
import { isDisguised, normalizeText } from './normalize.ts'
import { FORBIDDING } from './significant-words.ts'
import { wordsOf } from './tokens.ts'

/**
 * The result of recognising a license text.
 * `known`: this license, with unchanged permissions; an expression where the text offers several. `restricted`: the text reserves rights. `unknown`: anything else, including modified
 * licenses and several licenses in one file.
 */
export type RecognizedText = { kind: 'known'; id: string } | { kind: 'restricted' } | { kind: 'unknown'; why: Unrecognized }

/** Why a text is not recognized. `like`: the license that it resembles most. */
export type Unrecognized = { kind: 'unreadable' | 'lfs' | 'long' | 'disguised' | 'page' | 'unlike' } | (Change & { like: string })

/** Recognizes a license text. Takes bounded time: a text of more than `LICENSE_TEXT_BYTES` UTF-16 units is `unknown`. */
export function recognizeLicenseText(text: string): RecognizedText {
  if (text.length > LICENSE_TEXT_BYTES) return { kind: 'unknown', why: { kind: 'long' } }
  if (isDisguised(text)) return { kind: 'unknown', why: { kind: 'disguised' } }
  const page = readLicensePage(text)
  const found = knownLicense(page?.text ?? text)
  const choice = found.kind === 'unknown' ? readLicenseChoice(text) : null
  if (choice !== null) return { kind: 'known', id: choice }
  if (found.kind === 'known' && page !== null && page.id !== found.id) return { kind: 'unknown', why: { kind: 'page' } }
  return found.kind === 'unknown' && reserves(text, found.why) ? { kind: 'restricted' } : found
}

type Found = Exclude<RecognizedText, { kind: 'restricted' }>

function knownLicense(text: string): Found {
  const normalized = normalizeText(text)
  const candidates = similarTemplates(normalized.words, SIMILAR)
  const best = candidates[0]
  if (best === undefined) return { kind: 'unknown', why: { kind: 'unlike' } }
  const close = candidates.filter(({ similarity }) => similarity >= best.similarity - CLOSE).slice(0, TRIED)
  let why: Unrecognized | null = null
  for (const candidate of close) {
    // A license that is not open counts only if it is the most similar one.
    const change = candidate === best || kindOfExpression(candidate.id) === 'open' ? findChange(normalized, candidate) : undefined
    if (change === null) return { kind: 'known', id: candidate.id }
    if (change !== undefined) why ??= { ...change, like: candidate.id }
  }
  return { kind: 'unknown', why: why ?? { kind: 'unlike' } }
}

/** Whether a short text reserves rights. In a license with its permissions, "all rights reserved" belongs to the copyright line. */
function reserves(text: string, why: Unrecognized): boolean {
  if (text.length >= RESERVING_CHARACTERS) return false
  return /proprietary/i.test(text) || (why.kind === 'unlike' && /all rights reserved/i.test(text))
}

const SIMILAR = 0.8
const CLOSE = 0.05
const TRIED = 6
const RESERVING_CHARACTERS = 4_000

/** A page of a license collection such as choosealicense.com: metadata between two lines of `---`, then the license. */
interface LicensePage {
  /** The SPDX id that the metadata names. */
  id: string
  text: string
}

/** Reads such a page; `null` when the text is not one, or its metadata may contain a condition. */
function readLicensePage(text: string): LicensePage | null {
  const [all, metadata = ''] = text.match(/^\ufeff?---\r?\n([\s\S]{0,8000}?)\n---\r?\n/) ?? []
  const id = metadata.match(/^spdx-id:[ \t]*([A-Za-z0-9.-]+)[ \t]*\r?$/m)?.[1]
  if (all === undefined || id === undefined) return null
  if (!metadata.split(/\r?\n/).every(line => FIELD.test(line))) return null
  const prose = metadata.toLowerCase().replace(RIGHTS, '').replace(NO_CONDITIONS, '')
  const { words, copyright } = normalizeText(prose)
  return [...words, ...copyright.flatMap(wordsOf)].some(word => FORBIDDING.test(word))
    ? null
    : { id, text: text.slice(all.length) }
}

/** The fields of such pages, and what their lists name: anything else may be a condition. */
const FIELD =
  /^(?:(?:title|nickname|spdx-id|redirect_from|source|featured|hidden|description|how|using|permissions|conditions|limitations):.*| *- (?:\/\S+|(?:commercial|private|patent|trademark)-use|modifications|distribution|include-copyright(?:--source)?|document-changes|disclose-source|network-use-disclose|same-license(?:--file|--library)?|liability|warranty)| +[^\s:][^:]{0,80}: ["']?https?:\/\/\S+|\s*)$/
const RIGHTS = /^ *- (?:private-use|commercial-use|modifications|distribution|patent-use) *\r?$/gm
const NO_CONDITIONS = /no conditions whatsoever|unlicensed works|without source code/g
