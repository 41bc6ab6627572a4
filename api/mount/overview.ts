import { formatAddress } from '#core/address.ts'
import type { Mount, Overview, Repository } from '#core/contract/mount.ts'
import type { Diagnostic, DocumentListing } from '#core/contract/shared.ts'
import { OVERVIEW_DOCUMENTS, OVERVIEW_SKILLS } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { pageKey } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { isVerified } from '../operator/operator-content.ts'
import { countsInMount, diagnosticsOf } from './folder.ts'
import { imageDiagnostics, imageOf } from './image.ts'
import type { OpenMount, ReadyMount } from './open-mount.ts'

/**
 * The answer of `GET /api/v1/mounts/<address>`. It is requested most, so the answer of a snapshot is memoized by all its other facts, and
 * frozen, which lets the serializer memoize its bytes.
 */
export async function describeMount(deps: Pick<Deps, 'operator' | 'localSource'>, mount: OpenMount): Promise<Mount> {
  const { address, repository, commit, pinned } = mount
  const facts = {
    address: formatAddress(address),
    repository: describeRepository(repository),
    ref: address.ref,
    pinned,
    commit,
    path: address.path,
    verified: isVerified(deps.operator, address),
    image: imageOf(deps, mount),
  }
  switch (mount.status) {
    case 'indexing':
      return { ...facts, index: { status: 'indexing' } }
    case 'failed':
      return { ...facts, index: { status: 'failed', errorCode: mount.errorCode, retryAt: mount.retryAt } }
    case 'ready':
      return await mount.snapshot.memo(`mount ${keyOf(facts)}`, async () => {
        return Object.freeze({ ...facts, index: await describeFolder(mount, imageDiagnostics(deps, mount)) })
      })
  }
}

/** A key of every fact that does not come from the snapshot. */
function keyOf({ repository, ...facts }: Omit<Mount, 'index'>): string {
  return JSON.stringify([...Object.values(repository), ...Object.values(facts)])
}

/** The overview of the root comes from the header alone, that of a folder from the tables. */
async function describeFolder(mount: ReadyMount, own: readonly Diagnostic[]): Promise<Overview> {
  const { snapshot, folder, address } = mount
  const { header, indexedAt } = snapshot
  const common = {
    status: 'ready',
    indexedAt: indexedAt.toISOString(),
    license: folder.license,
    counts: countsInMount(address.path, folder),
    truncated: header.truncated,
  } as const
  if (address.path === '') {
    const { manifest, skills, documents } = header.root
    return {
      ...common,
      ...(manifest && { manifest }),
      skills,
      documents,
      diagnostics: await diagnosticsOf(snapshot, address.path, own),
    }
  }
  const prefix = `${address.path}/`
  const [manifest, skills, documents, diagnostics] = await Promise.all([
    folder.manifest === undefined ? null : snapshot.get('manifests', folder.manifest),
    snapshot.range('skills', { prefix, limit: OVERVIEW_SKILLS }),
    listDocuments(mount),
    diagnosticsOf(snapshot, address.path, own),
  ])
  return {
    ...common,
    ...(manifest && { manifest }),
    skills: skills.map(([, skill]) => skill),
    documents,
    diagnostics,
  }
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
