import { z } from 'zod'
import { DirectoryEntry, FileEntry, FolderOverview } from '../contract/browse.ts'
import { ReadFirst } from '../contract/mount.ts'
import {
  Counts,
  DocumentListing,
  Fragment,
  Instant,
  License,
  ManifestMetadata,
  Sha256,
  SkillListing,
  Translations,
} from '../contract/shared.ts'
import { FrontMatterValue, SkillBudget } from '../contract/skill.ts'
import { isInside, type RepoPath } from '../repo-path.ts'
import { DeliveredRow } from './delivered.ts'
import { DiagnosticRow, FindingsRow, SaidRow, WarningRow } from './finding-rows.ts'
import { FORMAT_VERSION, RULES_VERSION } from './versions.ts'

/**
 * `packages`: every listed skill that is served in full, as clients install it. Key: `SKILL.md` path. Its files are the rows of `files` below
 * its folder that have a record, and `notices`.
 */
export const PackageRow = z.union([
  z.object({
    /** As YAML 1.2 (core schema) reads it. */
    frontMatter: z.record(z.string(), z.json()),
    /** The archive of its files, by `core/skill-package.ts`. */
    archive: z.object({ sha256: Sha256, sizeBytes: z.int().min(1) }),
    /** Files outside its folder that say under which license it is; installed under their base names. */
    notices: z.array(z.string()).optional(),
    /** Number of its files that manifests exclude. */
    excluded: z.int().min(1).optional(),
    /** `SKILL.md` path of the skill that it is a copy of, if that one can be installed; `indexer/rules/copies.ts` has the definition. */
    copyOf: z.string().optional(),
    /** Why clients of the skills extension of MCP refuse it: they do not get it. */
    mcpRefusal: SaidRow.optional(),
  }),
  /** Why clients cannot install it. */
  z.object({ refusal: SaidRow }),
])
export type PackageRow = z.infer<typeof PackageRow>

/**
 * Location of a byte range in a pack: index into `SnapshotHeader.packs`, byte offset, byte length. The range is a gzip member (a record,
 * which is the bytes of one file, or a shard of a table), or a segment of the search section.
 */
export const Location = z.tuple([z.int().min(0), z.int().min(0), z.int().min(1)])
export type Location = z.infer<typeof Location>

/**
 * Locations as one list of numbers, three for each: index of the pack, distance from the end of the previous location in that pack,
 * and length. Such numbers are small and compress well. There may be thousands: a schema for each would dominate the parsing of a header.
 */
const Locations = z.codec(z.custom<number[]>(isListOfIntegers), z.custom<Location[]>(isListOfLocations), {
  decode(numbers) {
    const ends = new Map<number, number>()
    const locations: Location[] = []
    for (let at = 0; at < numbers.length; at += 3) {
      const [pack = -1, distance = 0, length = 0] = [numbers[at], numbers[at + 1], numbers[at + 2]]
      const offset = (ends.get(pack) ?? 0) + distance
      ends.set(pack, offset + length)
      locations.push([pack, offset, length])
    }
    return locations
  },
  encode(locations) {
    const ends = new Map<number, number>()
    return locations.flatMap(([pack, offset, length]) => {
      const distance = offset - (ends.get(pack) ?? 0)
      ends.set(pack, offset + length)
      return [pack, distance, length]
    })
  },
})

function isListOfIntegers(value: unknown): boolean {
  return Array.isArray(value) && value.every(Number.isSafeInteger)
}

function isListOfLocations(value: unknown): boolean {
  return Array.isArray(value) && value.every(([pack, offset, length]) => pack >= 0 && offset >= 0 && length >= 1)
}

/**
 * A pack: gzip members and segments of search sections, and at its end a directory of `directoryBytes` that lists its blobs for the indexer
 * of the next commit; `indexer/snapshot/pack-directory.ts` has its layout. Commits of one repository share packs.
 */
export const PackEntry = z.object({
  /** SHA-256 of the bytes, first 40 hex digits. */
  name: z.string().regex(/^[0-9a-f]{40}$/),
  sizeBytes: z.int().min(1),
  directoryBytes: z.int().min(0),
})
export type PackEntry = z.infer<typeof PackEntry>

/**
 * A sorted table: rows in byte order of their keys, cut into shards at content-defined boundaries.
 * A shard is the canonical JSON of `[key, row][]`. `shards` holds, in order, the first key, the number of rows before it, and the location.
 */
export const TableIndex = z.object({
  rows: z.int().min(0),
  shards: z.array(z.tuple([z.string(), z.int().min(0), Location])),
})
export type TableIndex = z.infer<typeof TableIndex>

/** Markdown files of a skill below a folder inside it. A mount that leaves the skill outside lists them as documents. */
export const PagesBelow = z.object({
  /** The folder of the skill. */
  skill: z.string(),
  count: z.int().min(1),
})
export type PagesBelow = z.infer<typeof PagesBelow>

/** A picture that a manifest declares: a file of the repository, or a URL as written. */
export const DeclaredImage = z.union([
  z.object({
    path: z.string(),
    /** The manifest; present when the license of the file permits no copy. */
    describedOnlyBy: z.string().optional(),
  }),
  z.object({ url: z.string() }),
])

/** `folders`: the root, and every folder that `entries` or `others` list, or that a listed link leads to. Key: its path. */
export const FolderRow = z.object({
  /** Eligible content at any depth below it. */
  counts: Counts,
  /** Of these, those whose license permits only a description; absent when there are none. */
  described: Counts.optional(),
  pages: PagesBelow.optional(),
  /** License of the folder's files that belong to no skill. */
  license: License,
  /** The license of the files in this very folder permits no copy. */
  describedOnly: z.literal(true).optional(),
  /** Path of the nearest readable manifest at or above it; a row of `manifests`. */
  manifest: z.string().optional(),
  image: DeclaredImage.optional(),
  overview: FolderOverview.optional(),
  /** Of a public repository: the deepest folder, it or one below, around all content that no license governs; absent when there is none. */
  unlicensed: z.string().optional(),
  /** Absent if the folder and those below it have none of these files. */
  readFirst: ReadFirst.optional(),
})
export type FolderRow = z.infer<typeof FolderRow>

/**
 * `entries`: what browse lists by default. Key: folder path, `\0`, entry name; see `entryKey`. `counts.files`, `delivered`, `why` and `target` are
 * shown with `files=all` alone. Of a file that is not delivered `why` says it, and `delivered` is absent.
 */
export const EntryRow = z.discriminatedUnion('kind', [DirectoryEntry.extend({ pages: PagesBelow.optional() }), FileEntry])
export type EntryRow = z.infer<typeof EntryRow>

/** `others`: what browse lists besides with `files=all`. Key: as of `entries`; it has the path. */
export const OtherRow = z.discriminatedUnion('kind', [DirectoryEntry.omit({ path: true }), FileEntry.omit({ path: true })])
export type OtherRow = z.infer<typeof OtherRow>

/** `manifests`: key: manifest path. */
export const ManifestRow = ManifestMetadata
export type ManifestRow = z.infer<typeof ManifestRow>

/** `skills`: listed skills. Key: `SKILL.md` path. */
export const SkillRow = SkillListing.extend({ warnings: z.array(WarningRow) })
export type SkillRow = z.infer<typeof SkillRow>

/** `documents`: key: path. */
export const DocumentRow = DocumentListing
export type DocumentRow = z.infer<typeof DocumentRow>

/** `pages`: Markdown files of skills that are served in full. Key: folder of the skill, `\0`, path. */
export const PageRow = DocumentListing
export type PageRow = z.infer<typeof PageRow>

/** `files`: every file of the files endpoint. Key: path. Has `record` or `refusal`; both if it is stored for the sake of a package alone. */
export const FileRow = z.object({
  sizeBytes: z.int().min(0),
  /** The bytes of the whole file. */
  record: Location.optional(),
  /** Of these bytes; present with `record`. */
  sha256: Sha256.optional(),
  executable: z.literal(true).optional(),
  /** The path of these bytes in the commit, if a symlink gives the file this one. */
  target: z.string().optional(),
  refusal: z.enum(['file.too_large', 'file.not_text', 'file.not_served']).optional(),
  /** It is not text because it is a pointer of Git LFS. */
  inLfs: z.literal(true).optional(),
})
export type FileRow = z.infer<typeof FileRow>

/** A part of a record: `lengthBytes` bytes from `offsetBytes` on. */
export const RecordSlice = z.object({ record: Location, offsetBytes: z.int().min(0), lengthBytes: z.int().min(0) })
export type RecordSlice = z.infer<typeof RecordSlice>

/** One piece of required text, and the path of its file. `characters` is its total length, `tokens` an estimate. */
export const ContextPart = z.object({
  path: z.string(),
  characters: Fragment.shape.totalLength,
  tokens: z.int().min(0),
  slice: RecordSlice,
})
export type ContextPart = z.infer<typeof ContextPart>

/** `contexts`: every skill that can be loaded, unlisted ones too. Key: `SKILL.md` path. */
export const ContextRow = z.object({
  directory: z.string(),
  name: z.string(),
  description: z.string(),
  frontMatter: z.record(z.string(), FrontMatterValue),
  warnings: z.array(WarningRow),
  translations: Translations,
  license: License,
  /** The path of the `SKILL.md` in the commit, if a symlink gives it this one. */
  target: z.string().optional(),
  /** Absent when the license permits only a description. */
  full: z
    .object({
      rules: z.array(ContextPart),
      body: z.string(),
      bodyTokens: z.int().min(0),
      includes: z.array(ContextPart),
      budget: SkillBudget,
      files: z.array(z.string()),
      /** Of `files`, those whose bytes are held. */
      fileDetails: z.array(z.object({ path: z.string(), sizeBytes: z.int().min(0), sha256: Sha256 })),
      /** Of rules, body and includes as they are delivered; absent when something is missing. `indexer/rules/content-facts.ts` has the definition. */
      sha256: Sha256.optional(),
      /** Paths in the whole repository; a mount shows those inside it. */
      references: z.array(z.string()),
      oversized: z.array(z.object({ path: z.string(), sizeBytes: z.int().min(0), target: z.string().optional() })),
      /** Whether required content is missing, so that no page completes the context. */
      incomplete: z.boolean(),
    })
    .optional(),
  diagnostics: z.array(DiagnosticRow),
})
export type ContextRow = z.infer<typeof ContextRow>

/** `hosts`: every host that a delivered text links to, for comparisons with a later commit. Key: the host, in lower case. */
export const HostRow = z.object({})

/** `withheld`: excluded files and folders, and closed folders. Key: path. Applies to everything below it. */
export const WithheldRow = z.object({ reason: z.enum(['excluded', 'closed']) })

/**
 * The search section: segments of one or more packs, in order. The head is at their end; `core/search/head.ts` has the layout.
 * Blocks and head are compressed with raw deflate, postings and fingerprints are not.
 */
export const SearchSection = z.object({
  segments: Locations.refine(segments => segments.length > 0),
  /** Length of the compressed head. */
  headBytes: z.int().min(1),
  /** CRC-32 of the compressed head. */
  headChecksum: z.int().min(0),
})
export type SearchSection = z.infer<typeof SearchSection>

/** The tables of a snapshot: schema of a row, and average number of rows in a shard. */
export const TABLES = {
  folders: { row: FolderRow, shardRows: 64 },
  entries: { row: EntryRow, shardRows: 128 },
  others: { row: OtherRow, shardRows: 256 },
  manifests: { row: ManifestRow, shardRows: 64 },
  skills: { row: SkillRow, shardRows: 64 },
  documents: { row: DocumentRow, shardRows: 128 },
  pages: { row: PageRow, shardRows: 128 },
  /** Key: path, `\0`, a running number of six digits. */
  diagnostics: { row: DiagnosticRow, shardRows: 128 },
  /** Key: `findingsKey`. */
  findings: { row: FindingsRow, shardRows: 64 },
  files: { row: FileRow, shardRows: 128 },
  packages: { row: PackageRow, shardRows: 32 },
  contexts: { row: ContextRow, shardRows: 4 },
  delivered: { row: DeliveredRow, shardRows: 32 },
  hosts: { row: HostRow, shardRows: 512 },
  withheld: { row: WithheldRow, shardRows: 256 },
} as const

export type TableName = keyof typeof TABLES
export type RowOf<Name extends TableName> = z.infer<(typeof TABLES)[Name]['row']>

/**
 * The header of a snapshot, written last: a snapshot is ready when its header exists. Stored as `encodeHeader` encodes it.
 * It answers a mount of the root by itself, and locates everything else.
 */
export const SnapshotHeader = z.object({
  format: z.literal(FORMAT_VERSION),
  rules: z.literal(RULES_VERSION),
  repositoryId: z.string(),
  commit: z.string(),
  /** The date of the commit; absent when it is not known, and in snapshots of earlier versions of this program. */
  committedAt: Instant.optional(),
  truncated: z.boolean(),
  /** Indexed by `Location`. The packs of the previous commit come first, so that its locations stay valid. */
  packs: z.array(PackEntry),
  /** Bytes in the packs that this snapshot uses; the others belong to earlier commits. */
  usedBytes: z.int().min(0),
  tables: z.object(
    Object.fromEntries(Object.keys(TABLES).map(name => [name, TableIndex])) as Record<TableName, typeof TableIndex>,
  ),
  /** `null` when nothing can be searched. */
  search: SearchSection.nullable(),
  /** Gzip members of what was read of Markdown texts, for the next commit; `indexer/snapshot/text-readings.ts` has their layout. */
  readings: Locations.optional(),
  /** The overview of the root. */
  root: z.object({
    folder: FolderRow,
    manifest: ManifestMetadata.optional(),
    skills: z.array(SkillRow),
    documents: z.array(DocumentListing),
    /** One more than an answer lists, so that the answer can tell that there are more. */
    diagnostics: z.array(DiagnosticRow),
  }),
})
export type SnapshotHeader = z.infer<typeof SnapshotHeader>

export const HEADER_BYTES = 32 * 1024 * 1024 // unpacked

/** The JSON value that `SnapshotHeader` parses. */
export function encodeHeader(header: SnapshotHeader): z.input<typeof SnapshotHeader> {
  return z.encode(SnapshotHeader, header)
}

/** Key of a row of `entries`. */
export function entryKey(folder: string, name: string): string {
  return `${folder}\0${name}`
}

/** Key of a row of `findings`. @param of the diagnostics of a file, or what concerns a `SKILL.md` as a skill */
export function findingsKey(path: string, of: 'file' | 'skill'): string {
  return `${path}\0${of}`
}

/** Key of a row of `pages`; with a folder and a slash for the path, the prefix of those below the folder. */
export function pageKey(skillDirectory: string, path: string): string {
  return `${skillDirectory}\0${path}`
}

/** What is eligible below a folder, as a mount shows it: where a skill lies above the mount, its Markdown files are documents. */
export function countsInMount<Below extends Counts>(
  mounted: RepoPath,
  { counts, pages }: { counts: Below; pages?: PagesBelow | undefined },
): Below {
  if (pages === undefined || isInside(mounted, pages.skill as RepoPath)) return counts
  return { ...counts, documents: counts.documents + pages.count }
}
