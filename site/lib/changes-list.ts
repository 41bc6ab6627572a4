import { type Address, formatAddress } from '#core/address.ts'
import { byKind, TOLD_KINDS } from '#core/change-groups.ts'
import type { ChangeItem, ChangesPage } from '#core/contract/changes.ts'
import type { ApiClient, ApiResult } from './api-client.ts'

/* The list of changes: skills, then documents, then manifests. The API lists them by path. */

type Kind = ChangeItem['kind']

/** As many as the interface permits: those that one manifest changes are one entry of the page. */
const ITEMS_AT_ONCE = '200'
/** Pages of the API that one page is made of at most, and items after which it reads no other one. */
const PAGES_READ = 5
const ENOUGH_ITEMS = 100

/** Where a page of a long list begins: its cursor has the kind before that of the API. */
const PLACE = /^(skill|document|manifest)(?:~(.+))?$/

/**
 * One page of the list. A list that is one page of the API has all kinds on it; a longer one has pages of skills, then of documents, then of
 * manifests.
 *
 * @param cursor of this list, not of the API
 */
export async function loadChangesList(
  client: ApiClient,
  address: Address,
  { from, path, cursor }: { from: string; path: string | undefined; cursor: string | undefined },
): Promise<ApiResult<'changes'>> {
  const [, named, after] = PLACE.exec(cursor ?? '') ?? []
  const read = (at: string | undefined) =>
    client.get('changes', formatAddress(address), {
      from,
      limit: ITEMS_AT_ONCE,
      ...(path ? { path } : {}),
      ...(at === undefined ? {} : { cursor: at }),
    })
  // A cursor of another form is refused by the API.
  const first = await read(named === undefined ? cursor : after)
  if (!first.ok || !('items' in first.answer)) return first
  const { answer } = first
  if (cursor === undefined && answer.nextCursor === null) return { ...first, answer: { ...answer, items: byKind(answer.items) } }
  const kind = (named as Kind | undefined) ?? firstKindIn(answer, TOLD_KINDS) ?? 'skill'
  return await gather(kind, { ...first, answer }, read)
}

type Ready = Extract<ApiResult<'changes'>, { ok: true }> & { answer: ChangesPage }

/** The items of one kind, from one page of the API on. */
async function gather(
  kind: Kind,
  first: Ready,
  read: (cursor: string) => Promise<ApiResult<'changes'>>,
): Promise<ApiResult<'changes'>> {
  const items = first.answer.items.filter(item => item.kind === kind)
  let next = first.answer.nextCursor
  for (let pages = 1; pages < PAGES_READ && items.length < ENOUGH_ITEMS && next !== null; pages++) {
    const result = await read(next)
    if (!result.ok || !('items' in result.answer)) return result
    items.push(...result.answer.items.filter(item => item.kind === kind))
    next = result.answer.nextCursor
  }
  const later = firstKindIn(first.answer, TOLD_KINDS.slice(TOLD_KINDS.indexOf(kind) + 1))
  const nextCursor = next === null ? (later ?? null) : `${kind}~${next}`
  return { ...first, answer: { ...first.answer, items, nextCursor } }
}

const COUNTED = { skill: 'skills', document: 'documents', manifest: 'manifests' } as const satisfies Record<
  Kind,
  keyof ChangesPage['counts']
>

function firstKindIn({ counts }: Pick<ChangesPage, 'counts'>, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find(kind => Object.values(counts[COUNTED[kind]]).some(count => count > 0))
}
