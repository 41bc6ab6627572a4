import { z } from 'zod'
import {
  Counts,
  Diagnostic,
  DocumentListing,
  FindingLevel,
  IndexErrorCode,
  License,
  ManifestMetadata,
  Path,
  Warning,
} from '#core/contract/shared.ts'

const Count = z.int().min(0)

/** The size of a text that agents receive. */
const Amount = z.object({ characters: Count, bytes: Count, tokens: Count })
export type Amount = z.infer<typeof Amount>

const Piece = z.object({ path: Path, ...Amount.shape })

const Delivery = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('full'),
    /** `false`: required content is missing, so agents never receive all of it. */
    complete: z.boolean(),
    /** Why it is not offered to programs that install skills; `null` when it is. */
    notInstallable: z.string().nullable(),
    pages: z.int().min(1),
    ...Amount.shape,
    /** In the order in which agents read them: rules, body, includes. */
    rules: z.array(Piece),
    body: Amount,
    includes: z.array(Piece),
    files: z.array(Path),
    references: z.array(Path),
    /** Linked files outside the folder: readers of this folder alone cannot open them. */
    outside: z.array(Path),
    /** Supporting and linked files that are too large to serve. */
    oversized: z.array(z.object({ path: Path, bytes: Count })),
  }),
  z.object({ kind: z.literal('described'), reason: z.string() }),
])

export const SkillReport = z.object({
  path: Path,
  name: z.string(),
  description: z.string(),
  /** `false`: loadable by its path alone (`metadata.internal`). */
  listed: z.boolean(),
  delivery: Delivery,
  license: License,
  /** As agents receive them. */
  warnings: z.array(Warning),
  diagnostics: z.array(Diagnostic),
})
export type SkillReport = z.infer<typeof SkillReport>

/** A problem or a note for the author, at the place to change. */
export const Finding = z.object({
  level: FindingLevel,
  severity: Diagnostic.shape.severity,
  code: z.string(),
  path: Path,
  /** Counted from 1; the first of several. Absent when unknown. */
  line: z.int().min(1).optional(),
  field: z.string().optional(),
  message: z.string(),
  /** What to do. */
  advice: z.string().optional(),
  /** Path of the `SKILL.md` that it concerns. */
  skill: Path.optional(),
  /** How many skills it keeps from agents, in full or in part, when it stands at another file. */
  costsSkills: z.int().min(1).optional(),
})
export type Finding = z.infer<typeof Finding>

const Checked = z.object({
  format: z.literal(1),
  status: z.literal('checked'),
  /** The folder that was checked, as a path of its repository. */
  folder: Path,
  /** `git`: tracked files, and untracked ones that git does not ignore; `folder`: every file. */
  source: z.enum(['git', 'folder']),
  visibility: z.enum(['public', 'private']),
  /** How `tokens` are counted. */
  tokenizer: z.literal('estimate'),
  /** `open`, or why readers of the folder receive nothing. */
  delivered: z.enum(['open', 'excluded', 'closed', 'empty']),
  /** Files and folders that manifests exclude, the topmost of each branch, by path; and how many skills lie there. */
  excluded: z.array(z.object({ path: Path, skills: Count })),
  /** The nearest manifest at or above the folder. */
  manifest: ManifestMetadata.nullable(),
  license: License,
  counts: Counts,
  truncated: z.boolean(),
  totals: z.object({
    errors: Count,
    warnings: Count,
    infos: Count,
    full: Count,
    described: Count,
    incomplete: Count,
    tokens: Count,
  }),
  /** Errors first, then by path. */
  findings: z.array(Finding),
  /** By path. */
  skills: z.array(SkillReport),
  documents: z.array(DocumentListing),
  /** Since the last check; with `--watch` only. */
  changes: z.object({ mended: z.array(Finding), added: z.array(Finding) }).optional(),
})
export type Checked = z.infer<typeof Checked>

const Failed = z.object({ format: z.literal(1), status: z.literal('failed'), errorCode: IndexErrorCode, message: z.string() })

/** What `mountglass check --json` prints. */
export const CheckReport = z.discriminatedUnion('status', [Checked, Failed])
export type CheckReport = z.infer<typeof CheckReport>

/** Whether the check fails: an error or incomplete skill keeps content from agents. */
export function hasErrors(report: CheckReport): boolean {
  return report.status === 'failed' || report.totals.errors > 0 || report.totals.incomplete > 0
}
