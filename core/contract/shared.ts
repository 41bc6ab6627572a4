import { z } from 'zod'
import { PATH_BYTES, QUERY_STRING_BYTES } from '../limits.ts'
import { parseRepoPath } from '../repo-path.ts'

/** Code points. */
export const Characters = z.int().min(0).meta({ description: 'A count of Unicode code points.' })

export const Path = z
  .string()
  .meta({ id: 'Path', description: 'Canonical repository-root path, no leading or trailing slash; `""` is the root.' })

export const Commit = z
  .string()
  .regex(/^[0-9a-f]{40}$/)
  .meta({ id: 'Commit', description: 'Full commit hash.' })

export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'Sha256', description: 'SHA-256, in lower-case hexadecimal digits.' })

export const Instant = z.iso.datetime().meta({ id: 'Instant', description: 'ISO 8601 instant, UTC, ending in `Z`.' })

export const NextCursor = z.string().nullable().meta({ description: 'Continues this listing; `null` on the last page.' })

export const LicenseKind = z.enum(['open', 'restricted', 'unknown', 'none'])

export const License = z
  .object({
    kind: LicenseKind,
    name: z.string().nullable().meta({ description: 'SPDX expression, or the declared text.' }),
    source: Path.nullable().meta({ description: 'File that declares it.' }),
    line: z.int().min(1).optional().meta({
      description: 'Line of `source` that declares it, from 1; absent where the file is the license, or no single line says so.',
    }),
  })
  .meta({ id: 'License' })
export type License = z.infer<typeof License>

export const FindingLevel = z.enum(['look', 'breaks', 'style'], 'must be `look`, `breaks` or `style`').meta({
  id: 'FindingLevel',
  description:
    '`look`: hidden from readers of the rendered page. `breaks`: an agent or a program receives less than its author meant. `style`: all of it arrives.',
})
export type FindingLevel = z.infer<typeof FindingLevel>

export const Warning = z
  .object({
    code: z.string(),
    level: FindingLevel,
    field: z.string().optional(),
    message: z.string(),
  })
  .meta({ id: 'Warning' })
export type Warning = z.infer<typeof Warning>

export const Diagnostic = z
  .object({
    code: z.string(),
    severity: z.enum(['error', 'warning', 'info']),
    path: Path,
    boundary: Path.optional().meta({ description: 'Folder that the problem closed.' }),
    field: z.string().optional(),
    message: z.string(),
  })
  .meta({ id: 'Diagnostic' })
export type Diagnostic = z.infer<typeof Diagnostic>

export const Translations = z
  .record(z.string(), z.object({ name: z.string().optional(), description: z.string().optional() }))
  .meta({ id: 'Translations', description: 'Keyed by canonical language tag.' })
export type Translations = z.infer<typeof Translations>

export const ManifestMetadata = z
  .object({
    path: Path,
    name: z.string(),
    description: z.string(),
    language: z.string().nullable().meta({ description: 'Inherited from the nearest manifest that declares one.' }),
    translations: Translations,
  })
  .meta({ id: 'Manifest' })
export type ManifestMetadata = z.infer<typeof ManifestMetadata>

export const Fragment = z
  .object({
    index: z.int().min(0).meta({ description: 'Index of the fragment in its file.' }),
    offset: Characters,
    length: Characters,
    totalLength: Characters,
    last: z.boolean(),
  })
  .meta({ id: 'Fragment' })
export type Fragment = z.infer<typeof Fragment>

/** A fragment of a text that a skill delivers. */
export const SkillFragment = Fragment.extend({
  totalBytes: z.int().min(0).meta({ description: 'Bytes of the whole text.' }),
  totalTokens: z.int().min(0).meta({ description: 'Tokens of the whole text, an estimate.' }),
}).meta({ id: 'SkillFragment' })
export type SkillFragment = z.infer<typeof SkillFragment>

/** The part of a file's text that is on one page. */
export const FragmentOfFile = z
  .object({ path: Path, content: z.string(), fragment: SkillFragment })
  .meta({ id: 'FragmentOfFile' })
export type FragmentOfFile = z.infer<typeof FragmentOfFile>

const DescribedOnly = z.literal(true).optional().meta({ description: 'Present when the license permits only a description.' })

export const SkillListing = z
  .object({
    path: Path,
    directory: Path,
    name: z.string(),
    description: z.string(),
    warnings: z.array(Warning),
    translations: Translations,
    license: License,
    tokens: z.int().min(0).optional().meta({
      description: 'Of all that an agent receives of it, an estimate; absent when the license permits only a description.',
    }),
    describedOnly: DescribedOnly,
  })
  .meta({ id: 'SkillListing' })
export type SkillListing = z.infer<typeof SkillListing>

export const DocumentListing = z
  .object({
    path: Path,
    title: z.string(),
    summary: z.string(),
    license: License.optional().meta({ description: 'Present when the document may not be served.' }),
    describedOnly: DescribedOnly,
  })
  .meta({ id: 'DocumentListing' })
export type DocumentListing = z.infer<typeof DocumentListing>

export const Counts = z.object({ skills: z.int().min(0), documents: z.int().min(0) }).meta({ id: 'Counts' })
export type Counts = z.infer<typeof Counts>

export const IndexErrorCode = z
  .enum(['index.fetch_failed', 'index.too_large', 'index.timeout', 'index.manifests_unreadable', 'index.internal'])
  .meta({ id: 'IndexErrorCode' })
export type IndexErrorCode = z.infer<typeof IndexErrorCode>

/** Where an index job is. The order is that of the job. */
export const IndexStage = z.enum(['open', 'tree', 'policy', 'content', 'write']).meta({
  id: 'IndexStage',
  description:
    'What an index job does at present: it opens the repository, then reads its tree, its manifests and licenses, and its content; at last it writes.',
})
export type IndexStage = z.infer<typeof IndexStage>

/** How much of its stage an index job has done. */
export const IndexProgress = z
  .object({ done: z.int().min(0), total: z.int().min(0) })
  .meta({ id: 'IndexProgress', description: 'Of the stage `content`: how many files were read, and how many are to be read.' })
export type IndexProgress = z.infer<typeof IndexProgress>

/** Answer of the endpoints that need the index, while it is being built. */
export const IndexingAnswer = z.object({ status: z.literal('indexing'), commit: Commit }).meta({ id: 'IndexingAnswer' })
export type IndexingAnswer = z.infer<typeof IndexingAnswer>

export const FailedAnswer = z
  .object({ status: z.literal('failed'), commit: Commit, errorCode: IndexErrorCode, retryAt: Instant })
  .meta({ id: 'FailedAnswer' })
export type FailedAnswer = z.infer<typeof FailedAnswer>

/** Schema of an integer in a query string, digits only. */
export function queryInteger(min: number, max: number) {
  const error = `must be an integer from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}`
  return z
    .string()
    .regex(/^\d{1,9}$/, error)
    .transform(Number)
    .pipe(z.int().min(min, error).max(max, error))
}

/** A parameter that names a folder or a file. */
export const PathParameter = z
  .string()
  .refine(
    text => parseRepoPath(text) !== null,
    'is not a canonical repository path: write it without a leading, trailing or double slash, and without `.` and `..`',
  )
  .meta({ maxLength: PATH_BYTES })

/** A parameter that continues a listing: an opaque `nextCursor` of an earlier page. */
export const CursorParameter = z
  .string()
  .max(QUERY_STRING_BYTES, 'is not a cursor; restart from the first page')
  .regex(/^[A-Za-z0-9_-]{23,}$/, 'is not a cursor; restart from the first page')
  .optional()
  .meta({ description: '`nextCursor` of the page before; the other parameters, except `limit`, stay as they were.' })

export const ErrorAnswer = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      sourceUrl: z.string().optional(),
      reason: z.enum(['empty', 'damaged']).optional(),
      directories: z.array(Path).optional(),
      retryAfter: z.number().optional(),
    }),
  })
  .meta({ id: 'Error' })
export type ErrorAnswer = z.infer<typeof ErrorAnswer>
