import { formatAddress } from '#core/address.ts'
import type { Mount, Overview, ReadFirst, Repository } from '#core/contract/mount.ts'
import type { DocumentListing, SkillListing } from '#core/contract/shared.ts'
import { OVERVIEW_DOCUMENTS, OVERVIEW_SKILLS } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { countsInMount, pageKey, type SkillRow } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { isVerified } from '../operator/operator-content.ts'
import { diagnosticsOf, warningsInMount } from './folder.ts'
import { imageDiagnostics, imageOf } from './image.ts'
import type { OpenMount, ReadyMount } from './open-mount.ts'

/**
 * The answer of `GET /api/v1/mounts/<address>`. It is requested most, so the answer of a snapshot is memoized by all its other facts, and
 * frozen, which lets the serializer memoize its bytes.
 */
export async function describeMount(deps: Pick<Deps, 'operator' | 'localSource'>, mount: OpenMount): Promise<Mount> {
  const verified = isVerified(deps.operator, mount.address)
  const image = imageOf(deps, mount)
  switch (mount.status) {
    case 'indexing': {
      const { stage, progress } = mount
      const index = { status: 'indexing', ...(stage && { stage }), ...(progress && { progress }) } as const
      return { ...describeFacts(mount, verified, image), index }
    }
    case 'failed': {
      const { errorCode, retryAt } = mount
      return { ...describeFacts(mount, verified, image), index: { status: 'failed', errorCode, retryAt } }
    }
    case 'ready':
      return await mount.snapshot.memo(keyOf(mount, verified, image), async () => {
        const index = await describeFolder(mount, imageDiagnostics(deps, mount))
        return Object.freeze({ ...describeFacts(mount, verified, image), index })
      })
  }
}

/** The facts that do not come from the snapshot. */
function describeFacts({ address, repository, commit, pinned }: OpenMount, verified: boolean, image: string | null) {
  return {
    address: formatAddress(address),
    repository: describeRepository(repository),
    ref: address.ref,
    pinned,
    commit,
    path: address.path,
    verified,
    image,
  }
}

/** A key of these facts. The address decides ref and path, and together with the snapshot whether the commit is pinned. */
function keyOf({ address, repository }: OpenMount, verified: boolean, image: string | null): string {
  return `mount ${JSON.stringify([formatAddress(address), verified, image, ...Object.values(describeRepository(repository))])}`
}

/** The overview of the root comes from the header alone, that of a folder from the tables. */
async function describeFolder(mount: ReadyMount, own: readonly DiagnosticRow[]): Promise<Overview> {
  const { snapshot, folder, address } = mount
  const { header, indexedAt } = snapshot
  const common = {
    status: 'ready',
    indexedAt: indexedAt.toISOString(),
    ...(header.committedAt && { committedAt: header.committedAt }),
    license: folder.license,
    counts: countsInMount(address.path, folder),
    truncated: header.truncated,
  } as const
  const [manifest, listed, diagnostics] = await Promise.all([
    address.path === '' ? header.root.manifest : folder.manifest && snapshot.get('manifests', folder.manifest),
    listContent(mount),
    diagnosticsOf(snapshot, address.path, own),
  ])
  return { ...common, ...(manifest && { manifest }), ...listed, readFirst: folder.readFirst ?? NOTHING_FIRST, diagnostics }
}

const NOTHING_FIRST: ReadFirst = { files: [], nested: 0 }

/** The first skills and documents of a mount. */
export async function listContent(mount: ReadyMount): Promise<Pick<Overview, 'skills' | 'documents'>> {
  const { snapshot, address } = mount
  if (address.path === '') {
    const { skills, documents } = snapshot.header.root
    return { skills: skills.map(row => listingIn(address.path, row)), documents }
  }
  const [skills, documents] = await Promise.all([listSkills(mount, OVERVIEW_SKILLS), listDocuments(mount)])
  return { skills, documents }
}

/** The first skills of a mount. */
export async function listSkills({ snapshot, address }: ReadyMount, limit: number): Promise<SkillListing[]> {
  const prefix = address.path === '' ? '' : `${address.path}/`
  const skills = await snapshot.range('skills', { prefix, limit })
  return skills.map(([, row]) => listingIn(address.path, row))
}

function listingIn(mounted: RepoPath, skill: SkillRow): SkillListing {
  return { ...skill, warnings: warningsInMount(mounted, skill.warnings, skill.describedOnly === true) }
}

/** The first documents of a mounted folder. Inside a skill its Markdown files are documents, too. */
async function listDocuments({ snapshot, folder, address }: ReadyMount): Promise<DocumentListing[]> {
  const prefix = `${address.path}/`
  const skill = folder.pages?.skill
  const [documents, pages] = await Promise.all([
    snapshot.range('documents', { prefix, limit: OVERVIEW_DOCUMENTS }),
    skill === undefined ? [] : snapshot.range('pages', { prefix: pageKey(skill, prefix), limit: OVERVIEW_DOCUMENTS }),
  ])
  const all = [...documents, ...pages].map(([, document]) => document)
  return all.sort((left, right) => compareBytes(left.path, right.path)).slice(0, OVERVIEW_DOCUMENTS)
}

export function describeRepository({
  host,
  owner,
  name,
  defaultBranch,
  description,
  avatar,
  visibility,
}: HostRepository): Repository {
  return { host, owner, name, defaultBranch, description, avatar, visibility }
}
