import type { AnswerOf } from '#core/contract/endpoints.ts'
import type { Fragment, FragmentOfFile } from '#core/contract/shared.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import { headingBeforeEnd } from './cut-at-paragraph.ts'
import { isMarkdownPath } from './links.ts'
import type { Ui } from './ui.ts'

export type SkillPage = Extract<AnswerOf<'skills'>, { status: 'ready' }>

/** What of a skill is on a page. */
export interface Delivery {
  page: SkillPage
  /** Number of the page, from 1; `null` where only its cursor is known. */
  number: number | null
  all: boolean
  /** More follows on the next page, which begins with the end of this answer where it was cut at a heading. */
  hasNext: boolean
  /** The front matter of the `SKILL.md`, which is not sent, with its fences; `null` where there is none, or this is not the first page. */
  frontMatter: string | null
}

/** Which page of a skill is requested. A page with a cursor is read at once; without one, the answers before it are read for their cursors. */
export interface DeliveryRequest {
  page: number | 'all' | undefined
  cursor: string | undefined
}

/** Answers that make one page: 64 KiB of text. Agents get them one by one. */
export const ANSWERS_PER_PAGE = 4
/** How many answers one request reads at most: 384 KiB of text. A skill that is longer goes on from there. */
export const ANSWERS_READ = 24
/** The pages before are numbered; behind them only the cursor of a page is known. */
export const LAST_NUMBER = ANSWERS_READ / ANSWERS_PER_PAGE

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
  const isLater = cursor !== undefined && !all
  const turns = all ? ANSWERS_READ : isLater ? ANSWERS_PER_PAGE : Math.min(wanted, LAST_NUMBER) * ANSWERS_PER_PAGE
  const read = await readAnswers(client, address, path, isLater ? cursor : undefined, turns)
  if (!('pages' in read)) return read
  const { pages } = read
  const { page, number } = all || isLater ? { page: joinPages(pages), number: null } : cutPages(pages)
  const isFirst = all || number === 1
  const hasNext = (page.nextCursor ?? null) !== null
  const frontMatter = isFirst ? await loadFrontMatter(client, address, page) : null
  return { ok: true, status: 200, answer: { page, number, all, hasNext, frontMatter } }
}

/** Consecutive answers of a skill, or the one that is none. */
export async function readAnswers(
  client: ApiClient,
  address: string,
  path: string,
  cursor: string | undefined,
  turns: number,
): Promise<{ pages: SkillPage[] } | Exclude<DeliveryResult, { answer: Delivery }>> {
  const pages: SkillPage[] = []
  let next = cursor
  do {
    const result = await client.get('skills', address, next === undefined ? { path } : { path, cursor: next })
    if (!result.ok) return result
    if (result.answer.status !== 'ready') return { ...result, answer: result.answer }
    pages.push(result.answer)
    next = result.answer.nextCursor ?? undefined
  } while (pages.length < turns && next !== undefined)
  return { pages }
}

/** The last page that these answers make. A page that others follow ends before a heading, where one is near its end. */
function cutPages(answers: readonly SkillPage[]): { page: SkillPage; number: number } {
  let carried: SkillPage[] = []
  for (let number = 1; ; number++) {
    const start = (number - 1) * ANSWERS_PER_PAGE
    const page = joinPages([...carried, ...answers.slice(start, start + ANSWERS_PER_PAGE)])
    const isLast = start + ANSWERS_PER_PAGE >= answers.length
    const isContinuedByCursor = number === LAST_NUMBER
    const [shown, rest] = page.nextCursor && !isContinuedByCursor ? splitAtHeading(page) : [page, null]
    if (isLast) return { page: shown, number }
    carried = rest === null ? [] : [rest]
  }
}

/** A page up to the last heading of its last text, and the rest of that text; `null` where no heading is near the end. */
function splitAtHeading(page: SkillPage): [SkillPage, SkillPage | null] {
  const { skill } = page
  const { ruleChain = [], includes = [], bodyFragment } = skill
  const include = includes.at(-1)
  const rule = ruleChain.at(-1)
  if (include !== undefined) {
    const cut = splitFragment(include)
    if (cut === null) return [page, null]
    return [
      { ...page, skill: { ...skill, includes: [...includes.slice(0, -1), cut.head] } },
      { ...page, skill: { ...skill, ruleChain: [], body: '', bodyFragment: null, includes: [cut.tail] } },
    ]
  }
  if (bodyFragment !== null) {
    const cut = splitFragment({ path: skill.path, content: skill.body, fragment: bodyFragment })
    if (cut === null) return [page, null]
    return [
      { ...page, skill: { ...skill, body: cut.head.content, bodyFragment: cut.head.fragment } },
      { ...page, skill: { ...skill, ruleChain: [], body: cut.tail.content, bodyFragment: cut.tail.fragment } },
    ]
  }
  const cut = rule && splitFragment(rule)
  if (!cut) return [page, null]
  return [
    { ...page, skill: { ...skill, ruleChain: [...ruleChain.slice(0, -1), cut.head] } },
    { ...page, skill: { ...skill, ruleChain: [cut.tail] } },
  ]
}

function splitFragment({ path, content, fragment }: FragmentOfFile): { head: FragmentOfFile; tail: FragmentOfFile } | null {
  const at = fragment.last || !isMarkdownPath(path) ? null : headingBeforeEnd(content)
  if (at === null) return null
  const length = [...content.slice(0, at)].length
  return {
    head: { path, content: content.slice(0, at), fragment: { ...fragment, length } },
    tail: {
      path,
      content: content.slice(at),
      fragment: { ...fragment, offset: fragment.offset + length, length: fragment.length - length },
    },
  }
}

/** Most front matter is shorter. */
const FRONT_MATTER_CHARACTERS = 2_048
const FRONT_MATTER_LIMIT = 20_000

/** What the file of a skill has before the text that is sent. */
async function loadFrontMatter(client: ApiClient, address: string, { skill }: SkillPage): Promise<string | null> {
  const { serving, path, bodyFragment } = skill
  if (!serving.full || bodyFragment === null) return null
  const read = async (limit: number) => await client.get('files', address, { path, limit: String(limit) })
  const start = await read(FRONT_MATTER_CHARACTERS)
  if (!start.ok) return null
  const length = start.answer.totalLength - bodyFragment.totalLength
  if (length <= 0 || length > FRONT_MATTER_LIMIT) return null
  const whole = length > FRONT_MATTER_CHARACTERS ? await read(length) : start
  const text = whole.ok
    ? [...whole.answer.content]
        .slice(0, length)
        .join('')
        .replace(/^\ufeff/, '')
    : ''
  return text === '' ? null : text
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
export function partsOf({ page: { skill }, number, all }: Pick<Delivery, 'page' | 'number' | 'all'>): Part[] {
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
