import { z } from 'zod'
import { FINDINGS_LIMIT } from '../limits.ts'
import {
  Commit,
  CursorParameter,
  Diagnostic,
  FailedAnswer,
  FindingLevel,
  IndexingAnswer,
  NextCursor,
  Path,
  PathParameter,
  queryInteger,
} from './shared.ts'

export const FindingsQuery = z.strictObject({
  path: PathParameter.optional().meta({
    description: 'Canonical folder inside the mount, or exact path of a `SKILL.md`; default: the mounted folder.',
  }),
  level: FindingLevel.optional().meta({ description: 'Only findings of this level; default: all.' }),
  cursor: CursorParameter,
  limit: queryInteger(FINDINGS_LIMIT.min, FINDINGS_LIMIT.max)
    .default(FINDINGS_LIMIT.default)
    .meta({ description: 'Findings on a page at most.' }),
})
export type FindingsQuery = z.infer<typeof FindingsQuery>

/** What an author should know of a file. */
export const ListedFinding = z
  .object({
    code: z.string(),
    level: FindingLevel,
    path: Path.meta({ description: 'The file or folder to look at.' }),
    line: z.int().min(1).optional().meta({ description: 'Counted from 1; the first of several. Absent where it is not known.' }),
    field: z.string().optional().meta({ description: 'Of the front matter.' }),
    message: z.string(),
    advice: z.string().optional().meta({ description: 'What to do.' }),
    skill: Path.optional().meta({ description: 'The `SKILL.md` that it concerns.' }),
    name: z.string().optional().meta({ description: 'Of the skill that it concerns, or at whose `SKILL.md` it stands.' }),
    costsSkills: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'How many skills it keeps from agents, in full or in part, where it stands at another file.' }),
  })
  .meta({ id: 'Finding' })
export type ListedFinding = z.infer<typeof ListedFinding>

export const FindingCounts = z
  .object({ look: z.int().min(0), breaks: z.int().min(0), style: z.int().min(0) })
  .meta({ id: 'FindingCounts', description: 'Findings of each level, whatever `level` asks for.' })
export type FindingCounts = z.infer<typeof FindingCounts>

const FindingsPage = z
  .object({
    status: z.literal('ready'),
    commit: Commit,
    counts: FindingCounts,
    items: z.array(ListedFinding).meta({ description: 'By level, path, line, code and message.' }),
    diagnostics: z.array(Diagnostic).meta({ description: 'Says whether the index is partial.' }),
    nextCursor: NextCursor,
  })
  .meta({ id: 'FindingsPage' })
export type FindingsPage = z.infer<typeof FindingsPage>

/** `GET /api/v1/findings/<address>` */
export const FindingsAnswer = z
  .discriminatedUnion('status', [FindingsPage, IndexingAnswer, FailedAnswer])
  .meta({ id: 'FindingsAnswer' })
export type FindingsAnswer = z.infer<typeof FindingsAnswer>
