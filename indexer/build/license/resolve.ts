import type { RepoPath } from '#core/repo-path.ts'
import type { LicenseSettings } from './kind.ts'
import type { LicensePlace, LicenseSources, ResolvedLicense } from './sources.ts'

export interface LicenseResolver {
  /**
   * Blobs that resolving these places needs and `textOf` answers with `undefined`. Read them and ask again until it is empty:
   * a text can be a link to another, so it takes at most eight rounds. Whatever cannot be read, `textOf` answers with `null`.
   */
  missing(places: Iterable<LicensePlace>): string[]

  /** The licence of files directly in the folder. Resolved once per folder. A text that nobody read counts as unreadable. */
  resolve(folder: RepoPath, skillDirectory: RepoPath | null): ResolvedLicense
}

export declare function createLicenseResolver(sources: LicenseSources, settings?: LicenseSettings): LicenseResolver
