import { z } from 'zod'
import { HOST_NAMES } from '#core/address.ts'
import { DESCRIPTION_CHARACTERS } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { truncateCharacters } from '#core/text.ts'
import type { ListedSizes } from '../git/remote-blobs.ts'
import { readRows } from './json-rows.ts'

const Names = HOST_NAMES.gh

const RepositoryBody = z.object({
  id: z.int().positive(),
  name: z.string().regex(Names.repository),
  owner: z.object({ id: z.int().positive(), login: z.string().regex(Names.owner), avatar_url: z.string() }),
  default_branch: z.string().min(1),
  description: z.string().nullable(),
  private: z.boolean(),
  /** Absent on older Enterprise Servers. */
  visibility: z.string().optional(),
  disabled: z.boolean().optional(),
})

/** Parses a repository of the API. `hidden` unless it is public; `null` when the body does not describe a repository. */
export function mapPublicRepository(body: unknown): HostRepository | 'hidden' | null {
  const repository = mapRepository(body)
  return repository?.visibility === 'private' ? 'hidden' : repository
}

/** Parses a repository of the API, private ones too. `null` when the body does not describe a repository. */
export function mapRepository(body: unknown): HostRepository | null {
  const parsed = RepositoryBody.safeParse(body)
  if (!parsed.success) return null
  const { id, name, owner, default_branch, description } = parsed.data
  return Object.freeze({
    id: `gh-${id}`,
    ownerId: `gh-${owner.id}`,
    host: 'gh',
    owner: owner.login,
    name,
    defaultBranch: default_branch,
    description: textOf(description),
    avatar: webAddressOf(owner.avatar_url),
    visibility: isShown(parsed.data) ? 'public' : 'private',
  })
}

/** Whether the host itself closed the repository, for everyone. */
export function isDisabled(body: unknown): boolean {
  return RepositoryBody.safeParse(body).data?.disabled === true
}

/** Whether the repository is public. Older Enterprise Servers omit `visibility`. */
export function isShown(body: { private: boolean; visibility?: string | undefined; disabled?: boolean | undefined }): boolean {
  return !body.private && (body.visibility ?? 'public') === 'public' && !body.disabled
}

/** A description, cut to `DESCRIPTION_CHARACTERS`; `null` when it is blank. */
export function textOf(text: string | null | undefined): string | null {
  return text?.trim() ? truncateCharacters(text.trim(), DESCRIPTION_CHARACTERS) : null
}

/** The text if it is an `http` or `https` address; else `null`. */
export function webAddressOf(url: string): string | null {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '') ? url : null
}

const TreeRow = z.object({
  type: z.enum(['blob', 'tree', 'commit']),
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  size: z.int().min(0).optional(),
})
const TreeBody = z.object({ truncated: z.boolean(), tree: z.array(z.unknown()) })

/** The sizes of a tree's blobs. Parses row by row: the body may have hundreds of thousands. @throws Error when it is not a tree */
export async function readSizes(body: AsyncIterable<Uint8Array>): Promise<ListedSizes> {
  const sizes = new Map<string, number>()
  const rest = await readRows(body, row => {
    const { type, sha, size } = TreeRow.parse(row)
    if (type === 'blob' && size !== undefined) sizes.set(sha, size)
  })
  return { sizes, isComplete: !TreeBody.parse(rest).truncated }
}

const ComparisonBody = z.object({ status: z.string(), merge_base_commit: z.object({ sha: z.string() }) })

/** Whether the comparison shows that the base leads to the commit. */
export function isBehind(body: unknown, commit: string): boolean {
  const parsed = ComparisonBody.safeParse(body)
  if (!parsed.success) return false
  const { status, merge_base_commit } = parsed.data
  return (status === 'behind' || status === 'identical') && merge_base_commit.sha === commit
}
