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
  files: z.enum(['delivered', 'all'], 'must be `delivered` or `all`').optional().meta({
    description:
      '`all` also lists what is in the tree and agents do not get, except what a manifest excludes or closes. Default: `delivered`.',
  }),
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

/** Why agents do not get the text of an entry; of several reasons the first. */
export const NotDelivered = z.enum(['submodule', 'link', 'withheld', 'not_delivered', 'too_large', 'not_text']).meta({
  id: 'NotDelivered',
  description:
    'Why agents do not get the text of the entry; of several reasons the first. `withheld`: its license permits no copy. `not_delivered`: it is not of a kind that is delivered.',
})
export type NotDelivered = z.infer<typeof NotDelivered>

const treeFields = {
  delivered: z.literal(false).optional().meta({
    description: 'Only with `files=all`: agents do not get the text of the file, or of any file below the folder.',
  }),
  why: NotDelivered.optional(),
  target: Path.optional().meta({
    description:
      'Only with `files=all`, of a symbolic link: where it leads. Absent where no answer of this address could list that.',
  }),
}

const EntryCounts = Counts.extend({
  files: z.int().min(0).optional().meta({
    description: 'Only with `files=all`: how many files it lists at any depth below the folder.',
  }),
}).meta({ id: 'EntryCounts' })

export const DirectoryEntry = z
  .object({
    path: Path,
    kind: z.literal('directory'),
    counts: EntryCounts,
    manifest: ManifestMetadata.optional().meta({ description: 'The manifest of this very folder.' }),
    overviewPath: Path.optional(),
    ...skillFields,
    ...treeFields,
  })
  .meta({ id: 'DirectoryEntry' })
export type DirectoryEntry = z.infer<typeof DirectoryEntry>

export const FileEntry = z
  .object({
    path: Path,
    kind: z.literal('file'),
    size: z.int().min(0).optional().meta({ description: 'Bytes; absent where they are not known.' }),
    sha256: Sha256.optional().meta({ description: 'Of the bytes of the file, where they are held.' }),
    title: z.string().optional(),
    ...skillFields,
    ...treeFields,
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
