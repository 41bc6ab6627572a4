import { z } from 'zod'
import { HOST_NAMES } from '#core/address.ts'
import type { HostAccount, ListedRepository } from '#core/ports/git-host.ts'
import { isShown, textOf, webAddressOf } from './described.ts'

const Names = HOST_NAMES.gh

const AccountBody = z.object({
  id: z.int().positive(),
  login: z.string().regex(Names.owner),
  type: z.string(),
  name: z.string().nullish(),
  bio: z.string().nullish(),
  avatar_url: z.string(),
  public_repos: z.int().min(0),
})

/** Parses an account of the API; `null` when the body does not describe one. @param webUrl origin of the host's pages */
export function readAccount(body: unknown, webUrl: string): HostAccount | null {
  const parsed = AccountBody.safeParse(body)
  if (!parsed.success) return null
  const { id, login, type, name, bio, avatar_url, public_repos } = parsed.data
  return {
    id: `gh-${id}`,
    host: 'gh',
    login,
    name: textOf(name),
    bio: textOf(bio),
    kind: type === 'Organization' ? 'organization' : 'user',
    avatar: webAddressOf(avatar_url),
    url: `${webUrl}/${login}`,
    publicRepositories: public_repos,
  }
}

const OrganizationBody = z.object({ description: z.string().nullish() })

/** The description of an organization; `null` when it is blank. */
export function readOrganizationText(body: unknown): string | null {
  return textOf(OrganizationBody.safeParse(body).data?.description)
}

const ListedBody = z.object({
  id: z.int().positive(),
  name: z.string().regex(Names.repository),
  owner: z.object({ login: z.string().regex(Names.owner) }),
  description: z.string().nullish(),
  private: z.boolean(),
  visibility: z.string().optional(),
  disabled: z.boolean().optional(),
  fork: z.boolean(),
  archived: z.boolean().optional(),
  stargazers_count: z.int().min(0).optional(),
  pushed_at: z.iso.datetime({ offset: true }).nullish(),
})

/** The public repositories of a listing, in its order; `null` when the body is not a listing. */
export function readListing(body: unknown): ListedRepository[] | null {
  const parsed = z.array(z.unknown()).safeParse(body)
  if (!parsed.success) return null
  return parsed.data.flatMap(one => {
    const repository = ListedBody.safeParse(one).data
    if (!repository || !isShown(repository)) return []
    const { id, name, owner, description, fork, archived = false, stargazers_count: stars = 0, pushed_at } = repository
    const pushedAt = pushed_at ? new Date(pushed_at).toISOString() : null
    return [{ id: `gh-${id}`, owner: owner.login, name, description: textOf(description), fork, archived, stars, pushedAt }]
  })
}
