import { createRequire } from 'node:module'
import { kindOfExpression, recognizeLicenseText } from '#indexer/rules/license/index.ts'

/** The licenses of the SPDX list, by id. */
export const licenses = createRequire(import.meta.url)('spdx-license-list/full') as Record<string, { licenseText: string }>

export function textOf(id: string): string {
  const text = licenses[id]?.licenseText
  if (text === undefined) throw new Error(`no text of ${id}`)
  return text
}

export const MIT = textOf('MIT').replace('<year> <copyright holders>', '2024 Example Inc.')
export const APACHE = textOf('Apache-2.0')
export const BSD = textOf('BSD-3-Clause')
export const CC_BY = textOf('CC-BY-4.0')
export const ISC = textOf('ISC')
export const MPL = textOf('MPL-2.0')
export const GPL = textOf('GPL-3.0-only')

export function isOpen(text: string): boolean {
  const recognized = recognizeLicenseText(text)
  return recognized.kind === 'known' && kindOfExpression(recognized.id) === 'open'
}

/** Replaces words that have to be there, however the lines break. */
export function change(text: string, from: string | RegExp, to: string): string {
  const pattern = typeof from === 'string' ? new RegExp(RegExp.escape(from).replaceAll('\\x20', '\\s+')) : from
  const changed = text.replace(pattern, to)
  if (changed === text) throw new Error(`nothing to change: ${from}`)
  return changed
}
