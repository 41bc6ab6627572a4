import { z } from 'zod'
import {
  Commit,
  Counts,
  Diagnostic,
  DocumentListing,
  IndexErrorCode,
  IndexProgress,
  IndexStage,
  Instant,
  License,
  ManifestMetadata,
  Path,
  SkillListing,
} from './shared.ts'

export const Repository = z
  .object({
    host: z.string(),
    owner: z.string(),
    name: z.string(),
    defaultBranch: z.string(),
    description: z.string().nullable(),
    avatar: z.string().nullable(),
    visibility: z.enum(['public', 'private']),
  })
  .meta({ id: 'Repository' })
export type Repository = z.infer<typeof Repository>

export const ReadFirstFile = z
  .object({
    path: Path,
    size: z.int().min(0).optional().meta({ description: 'Bytes; absent where they are not known.' }),
    tokens: z.int().min(0).optional().meta({ description: 'An estimate; present where agents get the text.' }),
    target: Path.optional().meta({ description: 'Where a symbolic link leads, as `browse` tells it.' }),
    delivered: z.boolean().meta({ description: 'Agents get its text.' }),
  })
  .meta({ id: 'ReadFirstFile' })
export type ReadFirstFile = z.infer<typeof ReadFirstFile>

export const ReadFirst = z
  .object({
    files: z.array(ReadFirstFile).meta({
      description:
        'Of the mounted folder: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, `.github/copilot-instructions.md`, in this order.',
    }),
    nested: z.int().min(0).meta({ description: 'How many files of these names lie deeper below the mounted folder.' }),
  })
  .meta({ id: 'ReadFirst', description: 'The files that coding agents read before any skill.' })
export type ReadFirst = z.infer<typeof ReadFirst>

const Overview = z
  .object({
    status: z.literal('ready'),
    indexedAt: Instant,
    committedAt: Instant.optional().meta({ description: 'Date of the commit; absent where it is not known.' }),
    manifest: ManifestMetadata.optional().meta({ description: 'The nearest manifest at or above the mounted folder.' }),
    license: License,
    counts: Counts,
    skills: z.array(SkillListing),
    documents: z.array(DocumentListing),
    readFirst: ReadFirst,
    diagnostics: z.array(Diagnostic),
    truncated: z.boolean().meta({ description: 'Limits of indexing were reached: the index is partial.' }),
  })
  .meta({ id: 'Overview' })
export type Overview = z.infer<typeof Overview>

const Indexing = z
  .object({
    status: z.literal('indexing'),
    stage: IndexStage.exactOptional().meta({ description: 'Absent while the job waits for its turn.' }),
    progress: IndexProgress.exactOptional().meta({ description: 'Absent where nothing is counted.' }),
  })
  .meta({ id: 'IndexIndexing' })
const Failed = z.object({ status: z.literal('failed'), errorCode: IndexErrorCode, retryAt: Instant }).meta({ id: 'IndexFailed' })

/** `GET /api/v1/mounts/<address>` */
export const Mount = z
  .object({
    address: z.string().meta({ description: 'Canonical address.' }),
    repository: Repository,
    ref: z.string().nullable().meta({ description: 'As requested; `null` for the default branch.' }),
    pinned: z.boolean(),
    commit: Commit,
    path: Path,
    verified: z.boolean(),
    image: z.string().nullable(),
    index: z.discriminatedUnion('status', [Indexing, Failed, Overview]),
  })
  .meta({ id: 'Mount' })
export type Mount = z.infer<typeof Mount>
