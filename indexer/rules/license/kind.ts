import parse from 'spdx-expression-parse'
import type { License } from '#core/contract/shared.ts'
import { licenseNames, once } from './data.ts'

/** What the operator decided. Ids are SPDX ids; `deny` wins over `allow`. */
export interface LicenseSettings {
  allow?: readonly string[]
  deny?: readonly string[]
  /** Whether public repositories without any license are described or served; default: described. */
  unlicensed?: 'describe' | 'serve'
}

/** Whether files under this license are served, not only described. Readers of a private repository have it already. */
export function isServedInFull(license: License, visibility: 'public' | 'private', settings: LicenseSettings = {}): boolean {
  if (visibility === 'private' || license.kind === 'open') return true
  return license.kind === 'none' && settings.unlicensed === 'serve'
}

/**
 * Whether an SPDX expression permits full serving; `null` when it is none.
 * `OR` needs one open side, `AND` both, and `WITH` follows the license before it.
 */
export function kindOfExpression(expression: string, settings: LicenseSettings = {}): 'open' | 'restricted' | null {
  const tree = parseExpression(expression)
  if (tree === null) return null
  return isOpen(tree, settings) ? 'open' : 'restricted'
}

/** The ids that an expression names; empty when it is none. */
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

/** The parser is recursive; real expressions are much shorter. */
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

const approvedIds = once(() => new Set(licenseNames().flatMap(({ id, osi }) => (osi ? [id] : []))))

/** Open although the Open Source Initiative did not approve them: content, data, and common permissive licenses. */
const ALSO_OPEN =
  /^(?:CC0-1\.0|CC-BY-\d.*|CC-BY-SA-\d.*|PDDL-1\.0|ODC-By-1\.0|ODbL-1\.0|CDLA-Permissive-.*|GFDL-.*-no-invariants-.*|WTFPL|FSFAP|X11|curl|BSD-[1-4]-Clause.*|BSD-Source-Code|BlueOak-.*|GPL-[23]\.0-with-.*)$/
const NOT_OPEN = /No-Nuclear|No-Military/
