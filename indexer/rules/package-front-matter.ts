import { CORE_SCHEMA, load } from 'js-yaml'
import { z } from 'zod'
import {
  COMPATIBILITY_CHARACTERS,
  DESCRIPTION_CHARACTERS,
  FRONT_MATTER_BYTES,
  SKILL_NAME_CHARACTERS,
  YAML_DEPTH,
} from '#core/limits.ts'
import { countCharacters, utf8Length } from '#core/text.ts'
import { why } from '#core/words/findings.ts'
import { splitFrontMatter } from './front-matter.ts'

type Json = z.infer<ReturnType<typeof z.json>>
type Fields = Readonly<Record<string, Json>>

/** Front matter as clients read it, or why they refuse the skill. */
export type PackageFrontMatter = { fields: Fields } | { refusal: string }

/** Front matter as clients parse it, or what they cannot parse. */
export const PackageFields = z.union([
  z.object({ fields: z.custom<Fields>(isMapping) }),
  z.object({ fault: z.enum(['fences', 'otherFence', 'noJsonMapping']) }),
])
export type PackageFields = z.infer<typeof PackageFields>

/** Names of skills, by the Agent Skills specification. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
/** Some clients end the front matter at this line, too. */
const PADDED_FENCE = /^---[ \t]*\r?$/m

/** Parses the front matter of a `SKILL.md` like clients that install skills: strictly, with the types of the YAML 1.2 core schema. */
export function parsePackageFields(text: string): PackageFields {
  const block = splitFrontMatter(text)
  if (block.kind !== 'block' || !/\n---\r?\n?$/.test(text.slice(0, text.length - block.body.length))) return { fault: 'fences' }
  if (PADDED_FENCE.test(block.yaml)) return { fault: 'otherFence' }
  const fields = parse(block.yaml)
  return fields === null ? { fault: 'noJsonMapping' } : { fields }
}

/** @param folderName the name of the skill's folder; of a skill at the root, that of the repository */
export function packageFrontMatterOf(parsed: PackageFields, folderName: string): PackageFrontMatter {
  if ('fault' in parsed) return { refusal: why(parsed.fault) }
  const refusal = refusalOf(parsed.fields, folderName)
  return refusal === null ? { fields: parsed.fields } : { refusal }
}

function parse(yaml: string): Record<string, Json> | null {
  if (utf8Length(yaml) > FRONT_MATTER_BYTES) return null
  try {
    const value: unknown = load(yaml, { schema: CORE_SCHEMA, maxDepth: YAML_DEPTH, maxAliases: 0 })
    return isMapping(value) && isJson(value) ? (value as Record<string, Json>) : null
  } catch {
    return null
  }
}

/** YAML has numbers that JSON lacks. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(isJson)
}

function refusalOf(
  { name, description, compatibility, metadata }: Readonly<Record<string, Json>>,
  folderName: string,
): string | null {
  if (typeof name !== 'string' || name.length > SKILL_NAME_CHARACTERS || !NAME.test(name))
    return why('nameForm', { limit: SKILL_NAME_CHARACTERS })
  if (name !== folderName) return why('nameOfFolder', { name })
  if (!isTextWithin(description, DESCRIPTION_CHARACTERS)) return why('descriptionForm', { limit: DESCRIPTION_CHARACTERS })
  if (compatibility !== undefined && !isTextWithin(compatibility, COMPATIBILITY_CHARACTERS))
    return why('compatibilityForm', { limit: COMPATIBILITY_CHARACTERS })
  if (metadata !== undefined && !(isMapping(metadata) && Object.values(metadata).every(value => typeof value === 'string')))
    return why('metadataForm')
  return null
}

function isTextWithin(value: Json | undefined, characters: number): boolean {
  return typeof value === 'string' && value !== '' && countCharacters(value) <= characters
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
