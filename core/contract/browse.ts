import { z } from 'zod'
import { BROWSE_LIMIT } from '../limits.ts'
import {
  Commit,
  Counts,
  CursorParameter,
  Diagnostic,
  FailedAnswer,
  IndexingAnswer,
  License,
  ManifestMetadata,
  NextCursor,
  Path,
  PathParameter,
  queryInteger,
  Sha256,
  Translations,
} from './shared.ts'

export const BrowseQuery = z.strictObject({
  path: PathParameter.optional().meta({ description: 'Canonical folder inside the mount; default: the mounted folder.' }),
  cursor: CursorParameter,
  limit: queryInteger(BROWSE_LIMIT.min, BROWSE_LIMIT.max)
    .default(BROWSE_LIMIT.default)
    .meta({ description: 'Entries on a page at most.' }),
})
export type BrowseQuery = z.infer<typeof BrowseQuery>

const SkillOfEntry = z
  .object({ path: Path, name: z.string(), description: z.string(), translations: Translations })
  .meta({ id: 'SkillOfEntry' })

const SERVING = 'On a `SKILL.md` and on its folder, and on a file that may not be served.'
const skillFields = {
  skill: SkillOfEntry.optional().meta({ description: 'On a `SKILL.md` and on its folder.' }),
  license: License.optional().meta({ description: SERVING }),
  describedOnly: z.literal(true).optional().meta({ description: SERVING }),
}

export const DirectoryEntry = z
  .object({
    path: Path,
    kind: z.literal('directory'),
    counts: Counts,
    manifest: ManifestMetadata.optional().meta({ description: 'The manifest of this very folder.' }),
    overviewPath: Path.optional(),
    ...skillFields,
  })
  .meta({ id: 'DirectoryEntry' })
export type DirectoryEntry = z.infer<typeof DirectoryEntry>

export const FileEntry = z
  .object({
    path: Path,
    kind: z.literal('file'),
    size: z.int().min(0).meta({ description: 'Bytes.' }),
    sha256: Sha256.optional().meta({ description: 'Of the bytes of the file, where they are held.' }),
    title: z.string().optional(),
    ...skillFields,
  })
  .meta({ id: 'FileEntry' })
export type FileEntry = z.infer<typeof FileEntry>

export const BrowseEntry = z.discriminatedUnion('kind', [DirectoryEntry, FileEntry])
export type BrowseEntry = z.infer<typeof BrowseEntry>

export const FolderOverview = z
  .object({ path: Path, title: z.string().nullable(), description: z.string().nullable() })
  .meta({ id: 'FolderOverview' })
export type FolderOverview = z.infer<typeof FolderOverview>

const BrowsePage = z
  .object({
    status: z.literal('ready'),
    commit: Commit,
    path: Path,
    entries: z.array(BrowseEntry),
    overview: FolderOverview.optional(),
    diagnostics: z.array(Diagnostic),
    nextCursor: NextCursor,
  })
  .meta({ id: 'BrowsePage' })
export type BrowsePage = z.infer<typeof BrowsePage>

/** `GET /api/v1/browse/<address>` */
export const BrowseAnswer = z
  .discriminatedUnion('status', [BrowsePage, IndexingAnswer, FailedAnswer])
  .meta({ id: 'BrowseAnswer' })
export type BrowseAnswer = z.infer<typeof BrowseAnswer>
