import { CORE_SCHEMA, load } from 'js-yaml'
import type { z } from 'zod'
import {
  COMPATIBILITY_CHARACTERS,
  DESCRIPTION_CHARACTERS,
  FRONT_MATTER_BYTES,
  SKILL_NAME_CHARACTERS,
  YAML_DEPTH,
} from '#core/limits.ts'
import { countCharacters, utf8Length } from '#core/text.ts'
import { reason } from '#words/findings.ts'
import type { Said } from '#words/t.ts'

type Json = z.infer<ReturnType<typeof z.json>>
type Fields = Readonly<Record<string, Json>>

/**
 * Front matter as clients read it. `refusal`: why `npx skills` refuses the skill. `mcpRefusal`: why clients of the skills extension of MCP do,
 * though `npx skills` does not.
 */
export type PackageFrontMatter = { fields: Fields; mcpRefusal: Said | null } | { refusal: Said }

/** The front matter for `npx skills`: what follows the hyphens that end it is not looked at. */
const BLOCK = /^\uFEFF?---\r?\n(.*?)\r?\n---/s
/** The front matter for clients of the skills extension of MCP. */
const MCP_BLOCK = /^\uFEFF?---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s

/**
 * Parses the front matter of a `SKILL.md` like clients that install skills: strictly, with the types of the YAML 1.2 core schema.
 *
 * @param folderName the name of the skill's folder; of a skill at the root, that of the repository
 */
export function parsePackageFrontMatter(text: string, folderName: string): PackageFrontMatter {
  const yaml = BLOCK.exec(text)?.[1]
  if (yaml === undefined) return { refusal: reason('fences') }
  if (utf8Length(yaml) > FRONT_MATTER_BYTES) return { refusal: reason('yamlTooLarge', { limit: FRONT_MATTER_BYTES }) }
  const parsed = parse(yaml)
  if (parsed === null) return { refusal: reason('noYaml') }
  const fields = asJson(parsed) as Fields
  if (!isText(fields.name)) return { refusal: reason('nameNoText') }
  if (!isText(fields.description)) return { refusal: reason('descriptionNoText') }
  if (MCP_BLOCK.exec(text)?.[1] !== yaml) return { fields, mcpRefusal: reason('otherFence') }
  return { fields, mcpRefusal: isJson(parsed) ? mcpRefusalOf(fields, folderName) : reason('noJson') }
}

function parse(yaml: string): Record<string, unknown> | null {
  try {
    const value: unknown = load(yaml, { schema: CORE_SCHEMA, maxDepth: YAML_DEPTH, maxAliases: 0 })
    return isMapping(value) ? value : null
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

/** Such numbers become `null`, as in JSON. */
function asJson(value: unknown): unknown {
  if (isJson(value)) return value
  if (Array.isArray(value)) return value.map(asJson)
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asJson(item)])) : null
}

/** Names of skills, by the Agent Skills specification. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

function mcpRefusalOf({ name, description, compatibility, metadata }: Fields, folderName: string): Said | null {
  if (typeof name !== 'string' || name.length > SKILL_NAME_CHARACTERS || !NAME.test(name))
    return reason('nameForm', { limit: SKILL_NAME_CHARACTERS })
  if (name !== folderName) return reason('nameOfFolder', { name })
  if (!isTextWithin(description, DESCRIPTION_CHARACTERS)) return reason('descriptionForm', { limit: DESCRIPTION_CHARACTERS })
  if (compatibility !== undefined && !isTextWithin(compatibility, COMPATIBILITY_CHARACTERS))
    return reason('compatibilityForm', { limit: COMPATIBILITY_CHARACTERS })
  if (metadata !== undefined && !(isMapping(metadata) && Object.values(metadata).every(value => typeof value === 'string')))
    return reason('metadataForm')
  return null
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

function isTextWithin(value: Json | undefined, characters: number): boolean {
  return isText(value) && countCharacters(value) <= characters
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
