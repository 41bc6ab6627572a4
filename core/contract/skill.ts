import { z } from 'zod'
import { PATH_BYTES } from '../limits.ts'
import {
  Commit,
  CursorParameter,
  Diagnostic,
  FailedAnswer,
  FragmentOfFile,
  IndexingAnswer,
  License,
  Path,
  Sha256,
  SkillFragment,
  Translations,
  Warning,
} from './shared.ts'

export const SkillQuery = z.strictObject({
  // Not only canonical paths: a request by the name or folder of a skill learns its path.
  path: z
    .string()
    .min(1, 'is empty; name a `SKILL.md`')
    .max(PATH_BYTES, `exceeds ${PATH_BYTES.toLocaleString('en')} characters; name a \`SKILL.md\``)
    .meta({ description: 'Exact canonical path of a `SKILL.md`.' }),
  cursor: CursorParameter,
})
export type SkillQuery = z.infer<typeof SkillQuery>

/** Value of a known front-matter field: a text, a list of texts, or a map of texts. */
export const FrontMatterValue = z
  .union([z.string(), z.array(z.string()), z.record(z.string(), z.string())])
  .meta({ id: 'FrontMatterValue' })
export type FrontMatterValue = z.infer<typeof FrontMatterValue>

export const Serving = z
  .object({
    license: License,
    full: z.boolean().meta({ description: 'False when the license permits only a description.' }),
    sourceUrl: z.string().meta({
      description:
        'The `SKILL.md` at its git host. If `full` is false and the repository is local, a deployment may answer 404 there: it withholds originals without a license.',
    }),
  })
  .meta({ id: 'Serving' })
export type Serving = z.infer<typeof Serving>

export const OversizedFile = z.object({ path: Path, size: z.int().min(0), sourceUrl: z.string() }).meta({ id: 'OversizedFile' })
export type OversizedFile = z.infer<typeof OversizedFile>

export const FileDetail = z
  .object({ path: Path, size: z.int().min(0).meta({ description: 'Bytes.' }), sha256: Sha256 })
  .meta({ id: 'FileDetail' })
export type FileDetail = z.infer<typeof FileDetail>

/** What an agent spends on the rules, body and includes of a skill. */
export const SkillBudget = z
  .object({
    bytes: z.int().min(0),
    tokens: z.int().min(0).meta({ description: 'An estimate: each model counts with its own encoding.' }),
    pages: z.int().min(0).meta({ description: 'Calls until the skill is complete.' }),
  })
  .meta({ id: 'SkillBudget' })

const Line = z.int().min(1).meta({ description: 'The line of the file where it occurs first.' })

/** What a reader looks at before an agent uses a skill; a key stands only where there is something. */
export const SkillFacts = z
  .object({
    hosts: z
      .array(z.object({ host: z.string(), path: Path, line: Line }))
      .optional()
      .meta({ description: 'Hosts of the http(s) links in its texts and served files, each once.' }),
    commands: z
      .array(z.object({ command: z.string(), path: Path, line: Line }))
      .optional()
      .meta({
        description:
          'Commands in them that download and run, install, change rights, remove, decode or reach another machine; as written, at most 200 characters.',
      }),
    executables: z.array(Path).optional().meta({ description: 'Its files that git has as executable.' }),
    truncated: z
      .array(z.enum(['hosts', 'commands', 'executables']))
      .optional()
      .meta({ description: 'Lists that a limit cuts: there may be more facts of these kinds.' }),
  })
  .meta({ id: 'SkillFacts' })
export type SkillFacts = z.infer<typeof SkillFacts>

export const Skill = z
  .object({
    path: Path,
    directory: Path,
    name: z.string(),
    description: z.string(),
    frontMatter: z.record(z.string(), FrontMatterValue),
    warnings: z.array(Warning),
    translations: Translations,
    serving: Serving,
    ruleChain: z.array(FragmentOfFile).optional().meta({ description: 'The rules on this page, root first.' }),
    body: z.string(),
    bodyFragment: SkillFragment.nullable(),
    files: z.array(Path).optional().meta({ description: 'Supporting files; on the first page only.' }),
    fileDetails: z
      .array(FileDetail)
      .optional()
      .meta({ description: 'Size and digest of the supporting files whose bytes are held; on the first page only.' }),
    sha256: Sha256.optional().meta({
      description:
        'Of the whole skill, on the first page if nothing is missing: for each rule, the body (path of the `SKILL.md`) and each include, in order of delivery, the bytes of `<path>\\n<byte length>\\n<text>`.',
    }),
    facts: SkillFacts.optional().meta({
      description: 'On the first page of a skill that is served in full and listed; absent where there are none.',
    }),
    budget: SkillBudget.optional().meta({ description: 'What the whole skill takes; on the first page only.' }),
    includes: z.array(FragmentOfFile).optional(),
    references: z.array(Path).optional().meta({ description: 'Optional reading; on the first page only.' }),
    oversized: z.array(OversizedFile).optional(),
  })
  .meta({ id: 'Skill' })
export type Skill = z.infer<typeof Skill>

const SkillPage = z
  .object({
    status: z.literal('ready'),
    commit: Commit,
    skill: Skill,
    complete: z.boolean().meta({ description: 'False while another call is required, or when required content is missing.' }),
    nextCursor: z.string().nullable().optional().meta({ description: 'Absent when paging cannot repair missing content.' }),
    diagnostics: z.array(Diagnostic),
  })
  .meta({ id: 'SkillPage' })
export type SkillPage = z.infer<typeof SkillPage>

/** `GET /api/v1/skills/<address>` */
export const SkillAnswer = z.discriminatedUnion('status', [SkillPage, IndexingAnswer, FailedAnswer]).meta({ id: 'SkillAnswer' })
export type SkillAnswer = z.infer<typeof SkillAnswer>
