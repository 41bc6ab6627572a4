import { z } from 'zod'
import { HISTORY_COMMITS, PATH_BYTES, SUBJECT_CHARACTERS } from '../limits.ts'
import { Commit, FailedAnswer, IndexingAnswer, Instant, Path } from './shared.ts'

export const HistoryQuery = z.strictObject({
  path: z
    .string()
    .min(1, 'is empty; name a `SKILL.md`')
    .max(PATH_BYTES, `exceeds ${PATH_BYTES.toLocaleString('en')} characters; name a \`SKILL.md\``)
    .optional()
    .meta({ description: 'Exact canonical path of a `SKILL.md`. Default: what the mount lists.' }),
})
export type HistoryQuery = z.infer<typeof HistoryQuery>

export const SkillCommit = z
  .object({
    commit: Commit,
    parent: Commit.nullable().meta({ description: 'Its first parent; `null` when the history begins here.' }),
    committedAt: Instant.nullable(),
    subject: z.string().max(SUBJECT_CHARACTERS).nullable().meta({
      description: 'First line of the message of the commit; `null` when the license of the skill permits a description only.',
    }),
  })
  .meta({ id: 'SkillCommit' })
export type SkillCommit = z.infer<typeof SkillCommit>

/** `GET /api/v1/history/<address>`: the commits that changed what a skill is made of, or what a mount lists. */
export const SkillHistory = z
  .object({
    status: z.literal('ready'),
    commit: Commit,
    path: Path.meta({ description: 'The `SKILL.md`, or the mounted folder.' }),
    commits: z.array(SkillCommit).max(HISTORY_COMMITS).meta({ description: 'The latest first.' }),
    paths: z
      .array(Path)
      .meta({ description: 'The delivered files whose commits are listed. A host may not tell those of all files cheaply.' }),
    truncated: z
      .boolean()
      .meta({ description: 'Older commits, or commits of other files of the skill or the folder, may be missing.' }),
  })
  .meta({ id: 'SkillHistory' })
export type SkillHistory = z.infer<typeof SkillHistory>

export const HistoryAnswer = z
  .discriminatedUnion('status', [SkillHistory, IndexingAnswer, FailedAnswer])
  .meta({ id: 'HistoryAnswer' })
export type HistoryAnswer = z.infer<typeof HistoryAnswer>
