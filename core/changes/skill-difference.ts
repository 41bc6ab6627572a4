import type { ChangedText, SkillMetadata } from '../contract/changes.ts'
import { DIFFERENCE_PAGE_BYTES } from '../limits.ts'
import { DamagedBytes } from '../snapshot/damage.ts'
import type { DeliveredSkill, DeliveredText } from '../snapshot/delivered.ts'
import type { ContextPart, ContextRow, Location } from '../snapshot/format.ts'
import { countCharacters, decodeText, utf8Length } from '../text.ts'
import type { Compared, Sided } from './items.ts'
import { localTo } from './parts.ts'
import { cutPiece, differenceInTurn } from './unified.ts'

/** How one text of a skill differs. */
export interface TextDifference extends Pick<ChangedText, 'kind' | 'path' | 'movedFrom' | 'change' | 'before' | 'after'> {
  /** The whole unified difference; `''` for a text that is unchanged. */
  content: string
  /** Code points of it. */
  characters: number
}

/** How all that a skill delivers differs. */
export interface SkillDifference {
  metadata: { before: SkillMetadata | null; after: SkillMetadata | null }
  /** In order of delivery of the new side, then the removed texts in the order of the old one. */
  texts: TextDifference[]
}

/** Compares the texts of a skill. Other requests go on between two texts, however many compare. */
export async function compareSkillTexts(
  pair: Compared<DeliveredSkill>,
  delivered: { before: SkillTexts | null; after: SkillTexts | null },
): Promise<SkillDifference> {
  const before = placedTexts(pair.before, delivered.before)
  const after = placedTexts(pair.after, delivered.after)
  const texts: TextDifference[] = []
  for (const [place, text] of after) texts.push(await differenceOf(before.get(place) ?? null, text))
  for (const [place, text] of before) if (!after.has(place)) texts.push(await differenceOf(text, null))
  return { metadata: { before: delivered.before?.metadata ?? null, after: delivered.after?.metadata ?? null }, texts }
}

interface PlacedText extends SkillText {
  side: { sha256: string; bytes: number }
}

/** The texts by kind and path; below the directory of the skill by their path in it. */
function placedTexts(side: Sided<DeliveredSkill> | null, delivered: SkillTexts | null): Map<string, PlacedText> {
  if (side?.row.full === undefined || delivered === null) return new Map()
  const { rules, body, includes } = side.row.full
  const digests: readonly DeliveredText[] = [...rules, body, ...includes]
  const local = localTo(side)
  return new Map(
    delivered.texts.map((text, index) => {
      const [, sha256 = '', bytes = 0] = digests[index] ?? []
      return [`${text.kind} ${local(text.path)}`, { ...text, side: { sha256, bytes } }]
    }),
  )
}

async function differenceOf(before: PlacedText | null, after: PlacedText | null): Promise<TextDifference> {
  const { kind, path } = (after ?? before) as PlacedText
  const content = await differenceInTurn(before?.text ?? '', after?.text ?? '')
  const hasMoved = before !== null && after !== null && before.path !== after.path
  return {
    kind,
    path,
    ...(hasMoved && { movedFrom: before.path }),
    change:
      before === null ? 'added' : after === null ? 'removed' : hasMoved ? 'moved' : content === '' ? 'unchanged' : 'changed',
    before: before?.side ?? null,
    after: after?.side ?? null,
    content,
    characters: countCharacters(content),
  }
}

/** Where a page of a difference begins: the text, and how much of its difference earlier pages have. */
export interface DifferencePosition {
  text: number
  offsetCharacters: number
  /** In UTF-16 units. */
  offsetUnits: number
  fragment: number
}

export const FIRST_PAGE: DifferencePosition = { text: 0, offsetCharacters: 0, offsetUnits: 0, fragment: 0 }

/**
 * One page of at most `DIFFERENCE_PAGE_BYTES` of UTF-8 over the differences of all its texts. Never splits a character. A difference that does not
 * end on the page is cut after a line, where one ends on the page.
 *
 * @returns `next`: where the next page begins; `null` on the last one
 */
export function cutDifference(
  texts: readonly TextDifference[],
  start: DifferencePosition,
): { entries: ChangedText[]; next: DifferencePosition | null } {
  const entries: ChangedText[] = []
  let leftBytes = DIFFERENCE_PAGE_BYTES
  let at = start
  while (at.text < texts.length) {
    const { content: whole, characters: totalLength, ...text } = texts[at.text] as TextDifference
    const content = cutPiece(whole, at.offsetUnits, leftBytes)
    const units = at.offsetUnits + content.length
    const last = units === whole.length
    if (content === '' && !last) return { entries, next: at }
    const length = countCharacters(content)
    const isWithinLine = at.offsetUnits > 0 && whole[at.offsetUnits - 1] !== '\n'
    const place = { index: at.fragment, offset: at.offsetCharacters, length, totalLength, last }
    const fragment = isWithinLine ? { ...place, withinLine: true as const } : place
    entries.push({ ...text, content, fragment })
    leftBytes -= utf8Length(content)
    if (!last) {
      const offsetCharacters = at.offsetCharacters + length
      return { entries, next: { text: at.text, offsetCharacters, offsetUnits: units, fragment: at.fragment + 1 } }
    }
    at = { ...FIRST_PAGE, text: at.text + 1 }
  }
  return { entries, next: null }
}

/** A text of a skill as it is delivered. */
interface SkillText {
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
