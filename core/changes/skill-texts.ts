import type { SkillMetadata } from '../contract/changes.ts'
import { DamagedBytes } from '../snapshot/damage.ts'
import type { ContextPart, ContextRow, Location } from '../snapshot/format.ts'
import { decodeText } from '../text.ts'

/** A text of a skill as it is delivered. */
export interface SkillText {
  kind: 'rules' | 'body' | 'includes'
  path: string
  text: string
}

/** What one side delivers of a skill. */
export interface SkillTexts {
  metadata: SkillMetadata
  /** In order of delivery; none where the skill is described only. */
  texts: SkillText[]
}

/**
 * The metadata and the texts of a row of `contexts`.
 *
 * @param read the bytes of a record
 * @throws DamagedBytes when a record does not hold the text that the row names
 */
export async function deliveredTexts(
  path: string,
  { name, description, frontMatter, translations, full }: ContextRow,
  read: (location: Location) => Promise<Uint8Array>,
): Promise<SkillTexts> {
  const metadata = { name, description, frontMatter, translations }
  if (full === undefined) return { metadata, texts: [] }
  const part =
    (kind: 'rules' | 'includes') =>
    async (one: ContextPart): Promise<SkillText> => ({ kind, path: one.path, text: await readPart(one, read) })
  const texts = await Promise.all([
    ...full.rules.map(part('rules')),
    Promise.resolve<SkillText>({ kind: 'body', path, text: full.body }),
    ...full.includes.map(part('includes')),
  ])
  return { metadata, texts }
}

async function readPart({ path, slice }: ContextPart, read: (location: Location) => Promise<Uint8Array>): Promise<string> {
  const { record, offsetBytes, lengthBytes } = slice
  const bytes = (await read(record)).subarray(offsetBytes, offsetBytes + lengthBytes)
  const text = decodeText(bytes)
  if (text === null || bytes.length !== lengthBytes) throw new DamagedBytes(`the record of ${path} does not match its row`)
  return text
}
