import { z } from 'zod'
import { mapFew } from '#core/concurrency/map-few.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type HostInstallation, type HostInstallations, INSTALLATION_BOUNDS, type PersonAnswer } from '#core/ports/people-host.ts'
import { type ApiAnswer, troubleOf, UNAVAILABLE } from './answers.ts'
import { describeRepository, isDisabled, webAddressOf } from './described.ts'

/** An answer to a question with the credential of one person. `kept_out`: the account refuses the address of this server. */
export type AnswerToPerson = ApiAnswer | { status: 'missing' } | { status: 'signed_out' } | KeptOut
export type KeptOut = { status: 'kept_out' }

/** Asks with the credential of one person. */
export type AskPerson = (url: string, parameters: Readonly<Record<string, string | number>>) => Promise<AnswerToPerson>

const PAGE = 100
/** An installation with such an answer is left out, and the others are listed. */
const PASSED_OVER: ReadonlySet<string> = new Set(['ok', 'missing', 'kept_out'])

const InstallationBody = z.object({
  id: z.int().positive(),
  account: z.object({ login: z.string(), type: z.string(), avatar_url: z.string() }),
  html_url: z.string().optional(),
  repository_selection: z.enum(['all', 'selected']),
  suspended_at: z.string().nullish(),
})
type InstallationBody = z.infer<typeof InstallationBody>
/** The installation of an enterprise has an account without a login; it owns no repositories. */
const InstallationsPage = z.object({ total_count: z.int().min(0), installations: z.array(z.unknown()) })
const RepositoriesPage = z.object({ total_count: z.int().min(0), repositories: z.array(z.unknown()) })

interface ListedPage {
  total: number
  repositories: HostRepository[]
  /** Repositories on the page, closed ones too. */
  listed: number
}

/** What the person and the App both reach, within `INSTALLATION_BOUNDS`. Suspended installations are left out. */
export async function listInstallations(ask: AskPerson): Promise<PersonAnswer<HostInstallations>> {
  const answer = await ask('/user/installations', { per_page: PAGE })
  // The list itself is always there: without it, nothing is known of the person.
  if (answer.status === 'missing' || answer.status === 'kept_out') return UNAVAILABLE
  if (answer.status !== 'ok') return withoutValue(answer)
  const page = InstallationsPage.safeParse(answer.data).data
  if (page === undefined) return UNAVAILABLE
  const reached = page.installations
    .flatMap(one => InstallationBody.safeParse(one).data ?? [])
    .filter(({ suspended_at }) => !suspended_at)
  const listed = reached.slice(0, INSTALLATION_BOUNDS.installations)
  const firsts = await mapFew(listed, ({ id }) => askPage(ask, id, 1))
  const failed = firsts.find(first => !PASSED_OVER.has(first.status))
  if (failed) return failed as PersonAnswer<never>

  const items: HostInstallation[] = []
  let left: number = INSTALLATION_BOUNDS.repositories
  for (const [index, installation] of listed.entries()) {
    const first = firsts[index]
    // It was removed or suspended since the list was made, or its account refuses the address of this server.
    if (first?.status !== 'ok') continue
    const found = await readRest(ask, installation, first.value, left)
    if (found.status !== 'ok') return found
    left -= found.value.repositories.length
    items.push(found.value)
  }
  const isKeptOut = firsts.some(first => first.status === 'kept_out')
  const isCut = isKeptOut || reached.length > listed.length || page.total_count > page.installations.length
  return { status: 'ok', value: { items, truncated: isCut } }
}

/** The installation with at most `left` repositories. */
async function readRest(
  ask: AskPerson,
  installation: InstallationBody,
  first: ListedPage,
  left: number,
): Promise<PersonAnswer<HostInstallation>> {
  const repositories = [...first.repositories]
  let seen = first.listed
  for (let page = 2; seen < first.total && repositories.length < left; page++) {
    const next = await askPage(ask, installation.id, page)
    if (next.status === 'missing' || next.status === 'kept_out') break
    if (next.status !== 'ok') return next
    if (next.value.listed === 0) break
    repositories.push(...next.value.repositories)
    seen += next.value.listed
  }
  const { account, html_url, repository_selection } = installation
  return {
    status: 'ok',
    value: {
      account: {
        login: account.login,
        kind: account.type === 'Organization' ? 'organization' : 'user',
        avatar: webAddressOf(account.avatar_url) ?? '',
      },
      manageUrl: html_url === undefined ? null : webAddressOf(html_url),
      selection: repository_selection,
      repositories: repositories.slice(0, left),
      truncated: seen < first.total || repositories.length > left,
    },
  }
}

async function askPage(ask: AskPerson, id: number, page: number): Promise<PersonAnswer<ListedPage> | KeptOut> {
  const url = '/user/installations/{installation_id}/repositories'
  const answer = await ask(url, { installation_id: id, per_page: PAGE, page })
  if (answer.status === 'kept_out') return answer
  if (answer.status !== 'ok') return withoutValue(answer)
  const body = RepositoriesPage.safeParse(answer.data).data
  if (body === undefined) return UNAVAILABLE
  const repositories = body.repositories.flatMap(one => (isDisabled(one) ? [] : (describeRepository(one) ?? [])))
  return { status: 'ok', value: { total: body.total_count, repositories, listed: body.repositories.length } }
}

function withoutValue(answer: Exclude<AnswerToPerson, KeptOut>): PersonAnswer<never> {
  if (answer.status === 'missing') return { status: 'missing' }
  return answer.status === 'signed_out' ? answer : troubleOf(answer as ApiAnswer)
}
