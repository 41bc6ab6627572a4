import type { AnswerOf } from '#core/contract/endpoints.ts'
import type { Fragment, FragmentOfFile } from '#core/contract/shared.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import type { Ui } from './ui.ts'

export type SkillPage = Extract<AnswerOf<'skills'>, { status: 'ready' }>

/** What of a skill is on a page. */
export interface Delivery {
  page: SkillPage
  /** Number of the page, from 1; `null` where only its cursor is known. With `all`, the number of pages that were joined. */
  number: number | null
  all: boolean
}

/** Which page of a skill is requested. A page with a cursor is read at once; without one, the pages before it are read for their cursors. */
export interface DeliveryRequest {
  page: number | 'all' | undefined
  cursor: string | undefined
}

/** How many pages one request reads at most: 384 KiB of text. A skill that is longer goes on from there. */
export const PAGES_READ = 24

type SkillResult = ApiResult<'skills'>
type DeliveryResult =
  | Extract<SkillResult, { ok: false }>
  | { ok: true; status: number; answer: Delivery | Exclude<AnswerOf<'skills'>, { status: 'ready' }> }

/** Reads a page of a skill, or all its pages as one. Past its last page, the last one. */
export async function loadDelivery(
  client: ApiClient,
  address: string,
  path: string,
  { page: wanted = 1, cursor }: DeliveryRequest,
): Promise<DeliveryResult> {
  const all = wanted === 'all'
  const turns = all ? PAGES_READ : cursor === undefined ? Math.min(wanted, PAGES_READ) : 1
  const pages: SkillPage[] = []
  let next = all ? undefined : cursor
  do {
    const result = await client.get('skills', address, next === undefined ? { path } : { path, cursor: next })
    if (!result.ok) return result
    if (result.answer.status !== 'ready') return { ...result, answer: result.answer }
    pages.push(result.answer)
    next = result.answer.nextCursor ?? undefined
  } while (pages.length < turns && next !== undefined)

  const last = pages.at(-1) as SkillPage
  const number = cursor === undefined || all ? pages.length : wanted === 1 ? null : wanted
  return { ok: true, status: 200, answer: { page: all ? joinPages(pages) : last, number, all } }
}

/** One text on a page of a skill. */
export interface Part extends FragmentOfFile {
  kind: 'rule' | 'skill' | 'include'
  /** Where the page has all rules. */
  place?: { n: number; all: number }
  /** Starts the ids of the text on the page. */
  idPrefix: string
}

/** The texts of a page, in the order in which an agent receives them. */
export function partsOf({ page: { skill }, number, all }: Delivery): Part[] {
  const { ruleChain = [], includes = [], bodyFragment } = skill
  const hasAllRules = (all || number === 1) && bodyFragment !== null && ruleChain.length > 1
  const parts: Omit<Part, 'idPrefix'>[] = [
    ...ruleChain.map((part, index) => ({
      kind: 'rule' as const,
      ...part,
      ...(hasAllRules ? { place: { n: index + 1, all: ruleChain.length } } : {}),
    })),
    ...(bodyFragment === null ? [] : [{ kind: 'skill' as const, path: skill.path, content: skill.body, fragment: bodyFragment }]),
    ...includes.map(part => ({ kind: 'include' as const, ...part })),
  ]
  return parts.map((part, index) => ({ ...part, idPrefix: `t${index}-` }))
}

/** `rule 1 of 2` */
export function kindWords({ t }: Ui, kind: Part['kind'], place: Part['place']): string {
  return place === undefined ? t(`skill.kinds.${kind}`) : t('skill.place', { kind: t(`skill.kinds.${kind}`), ...place })
}

/** Pages of one skill in their order, as if they were one page. */
export function joinPages(pages: readonly SkillPage[]): SkillPage {
  const [first, last] = [pages[0], pages.at(-1)]
  if (first === undefined || last === undefined) throw new Error('a skill has at least one page')
  const bodies = pages.flatMap(({ skill: { path, body, bodyFragment } }) =>
    bodyFragment === null ? [] : [{ path, content: body, fragment: bodyFragment }],
  )
  const [body] = joinFragments(bodies)
  return {
    ...last,
    skill: {
      ...first.skill,
      ruleChain: joinFragments(pages.flatMap(({ skill }) => skill.ruleChain ?? [])),
      body: body?.content ?? '',
      bodyFragment: body?.fragment ?? null,
      includes: joinFragments(pages.flatMap(({ skill }) => skill.includes ?? [])),
    },
    diagnostics: last.diagnostics,
  }
}

/** Neighbouring parts of the same file become one. */
function joinFragments(parts: readonly FragmentOfFile[]): FragmentOfFile[] {
  const joined: FragmentOfFile[] = []
  for (const part of parts) {
    const before = joined.at(-1)
    if (before?.path === part.path && endOf(before.fragment) === part.fragment.offset)
      joined.splice(-1, 1, {
        path: part.path,
        content: before.content + part.content,
        fragment: {
          ...before.fragment,
          length: before.fragment.length + part.fragment.length,
          last: part.fragment.last,
        },
      })
    else joined.push(part)
  }
  return joined
}

function endOf({ offset, length }: Fragment): number {
  return offset + length
}
