import { z } from 'zod'
import { HOST_NAMES } from '#core/address.ts'
import { DESCRIPTION_CHARACTERS } from '#core/limits.ts'
import type { HostRepository, TreeEntry } from '#core/ports/git-host.ts'
import { truncateCharacters } from '#core/text.ts'
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

/** A repository as the API describes it: `hidden` unless the host shows it to everyone; `null`: this is no description of one. */
export function readRepository(body: unknown): HostRepository | 'hidden' | null {
  const repository = describeRepository(body)
  return repository?.visibility === 'private' ? 'hidden' : repository
}

/** The same for those who may see what not everyone sees. */
export function describeRepository(body: unknown): HostRepository | null {
  const parsed = RepositoryBody.safeParse(body)
  if (!parsed.success) return null
  const { id, name, owner, default_branch, description } = parsed.data
  return {
    id: `gh-${id}`,
    ownerId: `gh-${owner.id}`,
    host: 'gh',
    owner: owner.login,
    name,
    defaultBranch: default_branch,
    description: textOf(description),
    avatar: webAddressOf(owner.avatar_url),
    visibility: isShown(parsed.data) ? 'public' : 'private',
  }
}

/** Whether everyone may see it. Older Enterprise Servers say less. */
export function isShown(body: { private: boolean; visibility?: string | undefined; disabled?: boolean | undefined }): boolean {
  return !body.private && (body.visibility ?? 'public') === 'public' && !body.disabled
}

/** A text that somebody wrote; `null` when it is blank. */
export function textOf(text: string | null | undefined): string | null {
  return text?.trim() ? truncateCharacters(text.trim(), DESCRIPTION_CHARACTERS) : null
}

/** An address that browsers may be sent to; `null` for any other text. */
export function webAddressOf(url: string): string | null {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '') ? url : null
}

const TreeRow = z.object({
  path: z.string(),
  mode: z.string(),
  type: z.enum(['blob', 'tree', 'commit']),
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  size: z.int().min(0).optional(),
})
const TreeBody = z.object({ truncated: z.boolean(), tree: z.array(TreeRow) })

/** A tree as the API gives it, with the modes that files have in a listing of git. */
export interface TreeBody {
  truncated: boolean
  tree: { path: string; mode: TreeEntry['mode']; type: 'blob' | 'tree' | 'commit'; sha: string; size?: number | undefined }[]
}

/** `null`: this is no tree. */
export function readTree(body: unknown): TreeBody | null {
  const parsed = TreeBody.safeParse(body)
  return parsed.success ? (parsed.data as TreeBody) : null
}

export interface TreeSizes {
  /** Of blobs, by id. */
  sizes: Map<string, number>
  /** Nothing was left out. */
  whole: boolean
}

/** The sizes of a tree's blobs, of which there may be more than anybody should hold as text. @throws Error when this is no tree */
export async function readSizes(body: AsyncIterable<Uint8Array>): Promise<TreeSizes> {
  const sizes = new Map<string, number>()
  const rest = await readRows(body, row => {
    const { type, sha, size } = TreeRow.parse(row)
    if (type === 'blob' && size !== undefined) sizes.set(sha, size)
  })
  return { sizes, whole: !TreeBody.parse(rest).truncated }
}

const BlobBody = z.object({ content: z.string(), encoding: z.literal('base64') })

/** `null`: this is no blob. */
export function readBlob(body: unknown): Uint8Array | null {
  const parsed = BlobBody.safeParse(body)
  return parsed.success ? Buffer.from(parsed.data.content, 'base64') : null
}

const ComparisonBody = z.object({ status: z.string(), merge_base_commit: z.object({ sha: z.string() }) })

/** Whether the comparison says that the base leads to this very commit. */
export function isBehind(body: unknown, commit: string): boolean {
  const parsed = ComparisonBody.safeParse(body)
  if (!parsed.success) return false
  const { status, merge_base_commit } = parsed.data
  return (status === 'behind' || status === 'identical') && merge_base_commit.sha === commit
}
