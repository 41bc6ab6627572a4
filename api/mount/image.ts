import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import type { FolderRow } from '#core/snapshot/format.ts'
import { finding } from '#words/findings.ts'
import type { Deps } from '../deps.ts'
import { pictureOf } from '../operator/operator-content.ts'
import type { OpenMount, ReadyMount } from './open-mount.ts'

type ImageDeps = Pick<Deps, 'operator' | 'localSource'>

/** URL of the picture of a mount: the operator's, else the one of the nearest manifest; `null` without one. */
export function imageOf(deps: ImageDeps, mount: OpenMount): string | null {
  const picture = pictureOf(deps.operator, mount.address)
  if (picture !== null || mount.status !== 'ready') return picture
  return manifestImageOf(deps, mount.host, mount.repository, mount.commit, mount.folder.image)
}

/** URL of a declared picture: a file of the repository at the host, or a URL as written. */
export function manifestImageOf(
  deps: Pick<ImageDeps, 'localSource'>,
  host: GitHost,
  repository: HostRepository,
  commit: CommitSha,
  image: FolderRow['image'],
): string | null {
  if (image === undefined || isWithheld(deps, host, image)) return null
  return 'url' in image ? image.url : host.urls.raw(repository, commit, image.path)
}

/** The diagnostic of a declared picture that `isWithheld`. */
export function imageDiagnostics(deps: Pick<ImageDeps, 'localSource'>, { host, folder }: ReadyMount): DiagnosticRow[] {
  const { image } = folder
  if (image === undefined || !isWithheld(deps, host, image)) return []
  const found = finding('image.withheld:unlicensed')
  return [{ ...found, severity: 'warning', path: image.describedOnlyBy, field: 'image' }]
}

type Image = NonNullable<FolderRow['image']>

/** Whether this process would have to serve the picture, and its license permits no copy. */
function isWithheld(
  { localSource }: Pick<ImageDeps, 'localSource'>,
  host: GitHost,
  image: Image,
): image is Image & { describedOnlyBy: string } {
  return !host.isRemote && localSource === 'withheld' && 'path' in image && image.describedOnlyBy !== undefined
}
