import type { Location } from '#core/snapshot/format.ts'
import { isProse } from '../rules/content-kind.ts'
import { titleOfName } from '../rules/document.ts'
import type { PlannedFile, PlannedSkill } from '../rules/plan.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { SearchInput } from '../search/input.ts'
import type { FileDescription } from './content-store.ts'

/**
 * The search input of a file; `null` when find never answers with it.
 *
 * @param skill the skill that the file defines, if it is a `SKILL.md`
 * @param description of a file that is read for it
 */
export function searchInputOf(
  file: TreeFile,
  planned: PlannedFile | undefined,
  skill: PlannedSkill | undefined,
  description: FileDescription | null,
  record: Location | null,
): SearchInput | null {
  if (skill) return skillInput(skill, file.oid)
  return planned && description ? fileInput(planned, description, record) : null
}

function skillInput({ skill, full }: PlannedSkill, blob: string): SearchInput | null {
  const { path, name, description, keywords, headings, body, internal } = skill
  if (internal) return null
  return {
    path,
    kind: 'skill',
    owner: path,
    title: name,
    summary: '',
    text: null,
    fields: { name, description, ...(full ? { ...(keywords === '' ? {} : { keywords }), headings, body, blob } : {}) },
  }
}

function fileInput(
  { file, kind, owner, served }: PlannedFile,
  { facts, readText }: FileDescription,
  record: Location | null,
): SearchInput | null {
  const isSupporting = kind === 'supporting' && owner?.full === true && served
  if (owner?.skill.internal || (kind !== 'document' && !isSupporting)) return null
  const { title, summary, name, keywords } = facts
  return {
    path: file.path,
    kind: isSupporting ? 'supporting' : 'document',
    owner: owner?.skill.path ?? null,
    title: title ?? titleOfName(file.path),
    summary,
    text: served && isProse(file.path) ? record : null,
    fields: {
      ...(name === null ? {} : { name }),
      description: summary,
      ...(served ? { ...(keywords === '' ? {} : { keywords }), blob: file.oid } : {}),
    },
    ...(served ? { readText } : {}),
  }
}
