import { similarTemplates } from './candidates.ts'
import { isUnchanged } from './guard.ts'
import { kindOfExpression } from './kind.ts'
import { readLicensePage } from './license-page.ts'
import { LICENSE_TEXT_BYTES } from './names.ts'
import { isDisguised, normalizeText } from './normalize.ts'

/**
 * The result of recognising a license text.
 * `known`: this license, with unchanged permissions. `restricted`: the text reserves rights. `unknown`: anything else, including modified
 * licenses and several licenses in one file.
 */
export type RecognizedText = { kind: 'known'; id: string } | { kind: 'restricted' } | { kind: 'unknown' }

/** Recognises a license text. Takes bounded time: a text of more than `LICENSE_TEXT_BYTES` UTF-16 units is `unknown`. */
export function recognizeLicenseText(text: string): RecognizedText {
  if (text.length > LICENSE_TEXT_BYTES || isDisguised(text)) return { kind: 'unknown' }
  const page = readLicensePage(text)
  const id = knownLicense(page?.text ?? text)
  if (id !== null && (page === null || page.id === id)) return { kind: 'known', id }
  return text.length < RESERVING_CHARACTERS && RESERVING.test(text) ? { kind: 'restricted' } : { kind: 'unknown' }
}

function knownLicense(text: string): string | null {
  const normalized = normalizeText(text)
  const candidates = similarTemplates(normalized.words, SIMILAR)
  const best = candidates[0]
  if (best === undefined) return null
  const close = candidates.filter(({ similarity }) => similarity >= best.similarity - CLOSE).slice(0, TRIED)
  // A license that is not open counts only if it is the most similar one.
  return close.find(one => (one === best || kindOfExpression(one.id) === 'open') && isUnchanged(normalized, one))?.id ?? null
}

const SIMILAR = 0.8
const CLOSE = 0.05
const TRIED = 6
const RESERVING_CHARACTERS = 4_000
const RESERVING = /all rights reserved|proprietary/i
