import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { FolderRow } from '#core/snapshot/format.ts'
import { type OperatorContent, pictureOf } from '../operator/operator-content.ts'
import type { OpenMount } from './open-mount.ts'

/** URL of the picture of a mount: the operator's, else the one of the nearest manifest; `null` without one. */
export function imageOf(operator: OperatorContent, mount: OpenMount): string | null {
  const picture = pictureOf(operator, mount.address)
  if (picture !== null || mount.status !== 'ready') return picture
  return manifestImageOf(mount.host, mount.repository, mount.commit, mount.folder.image)
}

/** URL of a declared picture: a file of the repository at the host, or a URL as written. */
export function manifestImageOf(
  host: GitHost,
  repository: HostRepository,
  commit: CommitSha,
  image: FolderRow['image'],
): string | null {
  if (image === undefined) return null
  return 'url' in image ? image.url : host.urls.raw(repository, commit, image.path)
}
