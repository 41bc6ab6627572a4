import type { ReadyMount } from './open-mount.ts'

/** URL of the picture that stands for the mounted folder, as its nearest manifest declares it; `null` without one. */
export function imageOf({ folder, host, repository, commit }: ReadyMount): string | null {
  if (folder.image === undefined) return null
  return 'url' in folder.image ? folder.image.url : host.urls.raw(repository, commit, folder.image.path)
}
