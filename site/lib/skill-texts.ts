import { type Address, formatAddress } from '#core/address.ts'
import type { ChangedText, ChangesAnswer, SkillChangesPage } from '#core/contract/changes.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import { type Hunk, type LineNumbers, readPiece } from './difference-rows.ts'

/* The differences of the texts of a skill, as one page shows them: several pages of the API, with numbers of lines of the files. */

/** A text of a skill on both sides. */
export interface ComparedText extends Pick<ChangedText, 'kind' | 'path' | 'change'> {
  hunks: Hunk[]
}

type NotReady = Exclude<ChangesAnswer, SkillChangesPage | { items: unknown }>
type Refused = Extract<ApiResult<'changes'>, { ok: false }>

/** Bytes of differences, and lines of them, after which a page reads no more of the API. */
const PAGE_BYTES = 64 * 1024
const PAGE_LINES = 2_000

/** The cursor of a later page that begins within a text: the numbers of its next lines, and the cursor of the API. */
const PLACE = /^(\d{1,7})\.(\d{1,7})~(.+)$/

/**
 * The first page, or the one of a cursor.
 *
 * @param cursor of these pages, not of the API
 */
export async function loadSkillTexts(
  client: ApiClient,
  address: Address,
  { from, skill, cursor }: { from: string; skill: string; cursor: string | undefined },
): Promise<
  | Refused
  | { ok: true; status: number; answer: NotReady }
  | { ok: true; status: number; answer: SkillChangesPage; texts: ComparedText[] }
> {
  const [, before, after, place] = PLACE.exec(cursor ?? '') ?? []
  const start = place === undefined ? null : { before: Number(before), after: Number(after) }
  const read = (at: string | undefined) =>
    client.get('changes', formatAddress(address), { from, skill, ...(at === undefined ? {} : { cursor: at }) })
  const first = await read(place ?? cursor)
  if (!first.ok) return first
  if (!isSkillPage(first.answer)) return { ...first, answer: first.answer as NotReady }
  const entries = [...first.answer.entries]
  let { nextCursor } = first.answer
  while (nextCursor !== null && isShort(entries)) {
    const next = await read(nextCursor)
    if (!next.ok || !isSkillPage(next.answer)) break
    appendEntries(entries, next.answer.entries)
    nextCursor = next.answer.nextCursor
  }
  const answer = { ...first.answer, entries }
  const { texts, next } = await readTexts(client, address, answer, start)
  const later = nextCursor !== null && next !== null ? `${next.before}.${next.after}~${nextCursor}` : nextCursor
  return { ...first, answer: { ...answer, nextCursor: later }, texts }
}

function isSkillPage(answer: ChangesAnswer): answer is SkillChangesPage {
  return answer.status === 'ready' && 'skill' in answer
}

function isShort(entries: readonly ChangedText[]): boolean {
  const all = entries.map(({ content }) => content).join('')
  return Buffer.byteLength(all) < PAGE_BYTES && all.split('\n').length < PAGE_LINES
}

/** Joins the pieces of a text that goes on. */
function appendEntries(entries: ChangedText[], more: readonly ChangedText[]): void {
  for (const entry of more) {
    const last = entries.at(-1)
    if (last && entry.fragment.index > 0)
      entries[entries.length - 1] = {
        ...last,
        content: last.content + entry.content,
        fragment: { ...last.fragment, last: entry.fragment.last },
      }
    else entries.push(entry)
  }
}

/** @returns `next`: the numbers of the lines that follow, where the last text goes on */
async function readTexts(
  client: ApiClient,
  address: Address,
  { entries, skill, from, to }: SkillChangesPage,
  start: LineNumbers | null,
): Promise<{ texts: ComparedText[]; next: LineNumbers | null }> {
  const texts: ComparedText[] = []
  let next: LineNumbers | null = null
  for (const [index, { kind, path, movedFrom = path, change, content, fragment }] of entries.entries()) {
    const isPart = index === 0 && fragment.index > 0
    const offsets =
      content === ''
        ? undefined
        : {
            before:
              change === 'added'
                ? 0
                : await linesBefore(
                    client,
                    { ...address, ref: from.commit },
                    kind === 'body' ? (skill.movedFrom ?? path) : movedFrom,
                  ),
            after: change === 'removed' ? 0 : await linesBefore(client, { ...address, ref: to.commit }, path),
          }
    const isWithinLine = fragment.withinLine === true
    const piece =
      content === '' ? null : readPiece(content, { isWithinLine, next: isPart ? start : null, ...(offsets && { offsets }) })
    texts.push({ kind, path, change, hunks: piece?.hunks ?? [] })
    next = fragment.last ? null : (piece?.next ?? null)
  }
  return { texts, next }
}

/** A front matter may have 16 KiB. */
const START_CHARACTERS = '20000'
const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*\r?(?:\n|$)/

/** Lines of a file before the text that agents receive of it: its front matter. None where the file cannot be read here. */
async function linesBefore(client: ApiClient, address: Address, path: string): Promise<number> {
  const result = await client.get('files', formatAddress(address), { path, limit: START_CHARACTERS })
  const frontMatter = result.ok ? (FRONT_MATTER.exec(result.answer.content)?.[0] ?? '') : ''
  return frontMatter.split('\n').length - 1
}
