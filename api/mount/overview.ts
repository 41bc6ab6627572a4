import { formatAddress } from '#core/address.ts'
import type { Mount, Overview, Repository } from '#core/contract/mount.ts'
import { OVERVIEW_DOCUMENTS, OVERVIEW_SKILLS } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Deps } from '../deps.ts'
import { isVerified } from '../operator/operator-content.ts'
import { diagnosticsOf } from './folder.ts'
import { imageOf } from './image.ts'
import type { OpenMount, ReadyMount } from './open-mount.ts'

/**
 * The answer of `GET /api/v1/mounts/<address>`. Mounts are asked for most of all, so that of a snapshot is kept and answered again, frozen,
 * as long as everything else that it says stays as it is.
 */
export async function describeMount(deps: Pick<Deps, 'operator'>, mount: OpenMount): Promise<Mount> {
  const { address, repository, commit, pinned } = mount
  const facts = {
    address: formatAddress(address),
    repository: describeRepository(repository),
    ref: address.ref,
    pinned,
    commit,
    path: address.path,
    verified: isVerified(deps.operator, address),
    image: imageOf(deps.operator, mount),
  }
  switch (mount.status) {
    case 'indexing':
      return { ...facts, index: { status: 'indexing' } }
    case 'failed':
      return { ...facts, index: { status: 'failed', errorCode: mount.errorCode, retryAt: mount.retryAt } }
    case 'ready':
      return await mount.snapshot.memo(`mount ${keyOf(facts)}`, async () => {
        return Object.freeze({ ...facts, index: await describeFolder(mount) })
      })
  }
}

/** Everything that is said beside what the snapshot says. */
function keyOf({ repository, ...facts }: Omit<Mount, 'index'>): string {
  return JSON.stringify([...Object.values(repository), ...Object.values(facts)])
}

/** A mount of the root is answered from the header alone, one of a folder from the tables. */
async function describeFolder({ snapshot, folder, address }: ReadyMount): Promise<Overview> {
  const { header, indexedAt } = snapshot
  const common = {
    status: 'ready',
    indexedAt: indexedAt.toISOString(),
    license: folder.license,
    counts: folder.counts,
    truncated: header.truncated,
  } as const
  if (address.path === '') {
    const { manifest, skills, documents } = header.root
    return {
      ...common,
      ...(manifest && { manifest }),
      skills,
      documents,
      diagnostics: await diagnosticsOf(snapshot, address.path),
    }
  }
  const prefix = `${address.path}/`
  const [manifest, skills, documents, diagnostics] = await Promise.all([
    folder.manifest === undefined ? null : snapshot.get('manifests', folder.manifest),
    snapshot.range('skills', { prefix, limit: OVERVIEW_SKILLS }),
    snapshot.range('documents', { prefix, limit: OVERVIEW_DOCUMENTS }),
    diagnosticsOf(snapshot, address.path),
  ])
  return {
    ...common,
    ...(manifest && { manifest }),
    skills: skills.map(([, skill]) => skill),
    documents: documents.map(([, document]) => document),
    diagnostics,
  }
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
