import parse from 'spdx-expression-parse'
import type { License } from '#core/contract/shared.ts'
import { licenseNames, once } from './data.ts'

/** Settings of the operator. Ids are SPDX ids; `deny` wins over `allow`. */
export interface LicenseSettings {
  allow?: readonly string[]
  deny?: readonly string[]
  /** Whether public repositories without any license are described or served; default: described. */
  unlicensed?: 'describe' | 'serve'
}

/** Whether files under this license are served in full. Those of a private repository are: its readers have access anyway. */
export function isServedInFull(license: License, visibility: 'public' | 'private', settings: LicenseSettings = {}): boolean {
  if (visibility === 'private' || license.kind === 'open') return true
  return license.kind === 'none' && settings.unlicensed === 'serve'
}

/**
 * Whether an SPDX expression permits serving; `null` when the text is not an expression.
 * `OR` needs one open side, `AND` both, and `WITH` follows the license before it.
 */
export function kindOfExpression(expression: string, settings: LicenseSettings = {}): 'open' | 'restricted' | null {
  const tree = parseExpression(expression)
  if (tree === null) return null
  return isOpen(tree, settings) ? 'open' : 'restricted'
}

/** The ids of an SPDX expression; empty when the text is not one. */
export function idsOfExpression(expression: string): string[] {
  const tree = parseExpression(expression)
  return tree === null ? [] : idsOf(tree)
}

function parseExpression(expression: string): parse.Info | null {
  if (expression.length > EXPRESSION_CHARACTERS) return null
  try {
    return parse(expression)
  } catch {
    return null
  }
}

/** Bounds the recursion of the parser; real expressions are much shorter. */
const EXPRESSION_CHARACTERS = 400

function isOpen(tree: parse.Info, settings: LicenseSettings): boolean {
  if ('license' in tree) return isOpenId(tree.license, settings)
  const left = isOpen(tree.left, settings)
  const right = isOpen(tree.right, settings)
  return tree.conjunction === 'or' ? left || right : left && right
}

function idsOf(tree: parse.Info): string[] {
  return 'license' in tree ? [tree.license] : [...idsOf(tree.left), ...idsOf(tree.right)]
}

function isOpenId(id: string, { allow = [], deny = [] }: LicenseSettings): boolean {
  if (deny.includes(id)) return false
  return allow.includes(id) || approvedIds().has(id) || (ALSO_OPEN.test(id) && !NOT_OPEN.test(id))
}

/** Whether a license is meant for texts, data or fonts, not for software. */
export function isContentLicense(id: string): boolean {
  return /^(?:CC0?|GFDL|ODbL|ODC|PDDL|OFL|CDLA)-/.test(id)
}

const approvedIds = once(() => new Set(licenseNames().flatMap(({ id, osi }) => (osi ? [id] : []))))

/** Open licenses without OSI approval: for content and data, and common permissive ones. */
const ALSO_OPEN =
  /^(?:CC0-1\.0|CC-BY-\d.*|CC-BY-SA-\d.*|PDDL-1\.0|ODC-By-1\.0|ODbL-1\.0|CDLA-Permissive-.*|GFDL-.*-no-invariants-.*|WTFPL|FSFAP|X11|curl|BSD-[1-4]-Clause.*|BSD-Source-Code|BlueOak-.*|GPL-[23]\.0-with-.*)$/
const NOT_OPEN = /No-Nuclear|No-Military/
