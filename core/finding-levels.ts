import type { FINDINGS } from '#words/en/findings.ts'
import type { FindingLevel } from './contract/shared.ts'

type Code<Key extends string> = Key extends `${infer Of}:${string}` ? Of : Key
type FindingCode = Code<keyof typeof FINDINGS>

/**
 * What a reader does about a finding, by its code. `look`: something that a reader of the rendered page does not see. `breaks`: an agent or a program
 * receives less than its author meant. `style`: all of it arrives.
 */
const LEVELS = {
  'body.empty': 'breaks',
  'body.long': 'style',
  'compatibility.too_long': 'style',
  'description.missing': 'breaks',
  'description.too_long': 'style',
  'diagnostics.truncated': 'style',
  'encoding.bom': 'style',
  'file.unreadable': 'breaks',
  'folder.empty': 'breaks',
  'folder.excluded': 'breaks',
  'folder.links_unchecked': 'style',
  'folder.not_checked_out': 'breaks',
  'folder.unlicensed': 'breaks',
  'folder.unreadable': 'breaks',
  'front_matter.comment': 'breaks',
  'front_matter.invalid': 'breaks',
  'front_matter.late': 'breaks',
  'front_matter.missing': 'breaks',
  'front_matter.padded': 'breaks',
  'front_matter.repaired': 'breaks',
  'front_matter.unknown_field': 'breaks',
  'front_matter.unterminated': 'breaks',
  'image.withheld': 'breaks',
  'include.excluded': 'breaks',
  'include.missing': 'breaks',
  'include.not_served': 'breaks',
  'include.not_text': 'breaks',
  'include.too_large': 'breaks',
  'index.limit_bytes': 'breaks',
  'index.limit_documents': 'breaks',
  'index.limit_skills': 'breaks',
  'index.limit_time': 'breaks',
  'index.partial': 'breaks',
  'license.conflict': 'breaks',
  'license.unrecognized': 'breaks',
  'license.unresolved': 'breaks',
  'manifest.image_missing': 'breaks',
  'manifest.invalid_field': 'breaks',
  'manifest.no_front_matter': 'style',
  'manifest.unknown_field': 'breaks',
  'manifest.unreadable': 'breaks',
  'name.directory_mismatch': 'style',
  'name.duplicate': 'style',
  'name.invalid': 'breaks',
  'name.missing': 'style',
  'name.too_long': 'style',
  'oversized.truncated': 'style',
  'reference.broken': 'breaks',
  'reference.outside': 'style',
  'reference.unreadable': 'breaks',
  'references.truncated': 'style',
  'rules.missing': 'breaks',
  'skill.file_name': 'style',
  'skill.nested': 'style',
  'skill.not_in_mcp': 'breaks',
  'skill.not_installable': 'breaks',
  'skill.unreadable': 'breaks',
  'supporting.truncated': 'style',
  'text.hidden_characters': 'look',
  'text.html_comment': 'look',
  'translations.invalid': 'breaks',
  'tree.invalid_name': 'breaks',
  'tree.limit': 'breaks',
  'tree.submodule': 'style',
} as const satisfies Record<FindingCode, FindingLevel>

/** A code of a later version breaks, until it is known. */
export function levelOf(code: string): FindingLevel {
  return Object.hasOwn(LEVELS, code) ? LEVELS[code as FindingCode] : 'breaks'
}

/** In the order of lists. */
export const FINDING_LEVELS = ['look', 'breaks', 'style'] as const satisfies readonly FindingLevel[]
