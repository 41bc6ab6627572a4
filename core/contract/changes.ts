import { z } from 'zod'
import { isRefName } from '../address.ts'
import { BROWSE_LIMIT, FROM_CHARACTERS, PATH_BYTES } from '../limits.ts'
import {
  Commit,
  Counts,
  CursorParameter,
  Diagnostic,
  Fragment,
  IndexErrorCode,
  Instant,
  License,
  NextCursor,
  Path,
  PathParameter,
  queryInteger,
  Sha256,
  Translations,
} from './shared.ts'
import { FrontMatterValue } from './skill.ts'

const BESIDE_SKILL = 'does not go together with the parameter skill; remove one of them'

export const ChangesQuery = z
  .strictObject({
    from: z
      .string()
      .min(1, 'is empty; name a branch, a tag or a full commit')
      .max(FROM_CHARACTERS, `exceeds ${FROM_CHARACTERS.toLocaleString('en')} characters; name a branch, a tag or a full commit`)
      .refine(isRefName, 'is not of the form of a branch, a tag or a commit; check its spelling')
      .meta({
        description:
          'The old side: a branch, a tag, `refs/heads/…`, `refs/tags/…` or a full commit. The address names the new side.',
      }),
    path: PathParameter.optional().meta({ description: 'Canonical folder inside the mount; default: the mounted folder.' }),
    skill: z
      .string()
      .min(1, 'is empty; name a `SKILL.md`')
      .max(PATH_BYTES, `exceeds ${PATH_BYTES.toLocaleString('en')} characters; name a \`SKILL.md\``)
      .optional()
      .meta({
        description:
          'Exact canonical path of a `SKILL.md`, on the new side or, where no skill lies there, on the old one: answers with the difference of its texts. Not together with `path` or `limit`.',
      }),
    cursor: CursorParameter,
    limit: queryInteger(BROWSE_LIMIT.min, BROWSE_LIMIT.max)
      .optional()
      .meta({ description: `Items on a page at most; default: ${BROWSE_LIMIT.default}.` }),
  })
  .refine(query => query.skill === undefined || query.path === undefined, { path: ['path'], message: BESIDE_SKILL })
  .refine(query => query.skill === undefined || query.limit === undefined, { path: ['limit'], message: BESIDE_SKILL })
export type ChangesQuery = z.infer<typeof ChangesQuery>

const SIDE = {
  ref: z.string().nullable().meta({ description: 'As requested; `null` for the default branch.' }),
  commit: Commit,
}

const ReadySide = z.object({ ...SIDE, status: z.literal('ready') })

export const ChangeSide = z
  .discriminatedUnion('status', [
    ReadySide,
    z.object({ ...SIDE, status: z.literal('indexing') }),
    z.object({ ...SIDE, status: z.literal('failed'), errorCode: IndexErrorCode, retryAt: Instant }),
  ])
  .meta({ id: 'ChangeSide' })
export type ChangeSide = z.infer<typeof ChangeSide>

const sides = { from: ChangeSide, to: ChangeSide }

const Count = z.int().min(0)
export const ChangeCount = z.object({ added: Count, removed: Count, changed: Count, moved: Count }).meta({ id: 'ChangeCount' })
export type ChangeCount = z.infer<typeof ChangeCount>

/** The parts of an item, in the order in which answers list those that changed. */
export const SKILL_PARTS = ['rules', 'body', 'includes', 'files', 'metadata', 'license', 'serving'] as const
export const DOCUMENT_PARTS = ['body', 'metadata', 'license', 'serving'] as const
export const MANIFEST_PARTS = ['rules', 'includes', 'exclusions', 'license', 'metadata'] as const
export type SkillPart = (typeof SKILL_PARTS)[number]
export type DocumentPart = (typeof DOCUMENT_PARTS)[number]
export type ManifestPart = (typeof MANIFEST_PARTS)[number]

export const Cause = z
  .object({
    part: z.enum(SKILL_PARTS),
    path: Path.meta({
      description: 'A manifest, an include, a file of the skill, its `SKILL.md`, or the source of its license.',
    }),
    change: z.enum(['added', 'removed', 'changed']),
  })
  .meta({ id: 'Cause' })
export type Cause = z.infer<typeof Cause>

const BeforeAndAfter = z.object({ before: FrontMatterValue.nullable(), after: FrontMatterValue.nullable() })

const Line = z.int().min(1).meta({ description: 'The line of the file where it occurs first.' })

export const ChangeFacts = z
  .object({
    hiddenCharacters: z
      .array(z.object({ path: Path, line: Line, codePoint: z.string(), count: z.int().min(1) }))
      .optional()
      .meta({ description: 'Characters that a reader does not see, as many as there are more than before.' }),
    hosts: z
      .array(z.object({ host: z.string(), path: Path, line: Line }))
      .optional()
      .meta({ description: 'Hosts of http(s) links that no text of the old commit links to.' }),
    description: z
      .object({ before: z.string().nullable(), after: z.string().nullable() })
      .optional()
      .meta({ description: 'The description of a skill, which decides when agents use it.' }),
    commands: z
      .array(z.object({ command: z.string(), path: Path, line: Line }))
      .optional()
      .meta({
        description:
          'Commands that download and run, install, change rights, remove, decode or reach another machine, and that no text of the item held before; as written, at most 200 characters.',
      }),
    executables: z.array(Path).optional().meta({ description: 'Files that were not there before, or not executable.' }),
    allowedTools: BeforeAndAfter.optional(),
    serving: z.enum(['opened', 'closed']).optional(),
    truncated: z
      .array(z.enum(['hiddenCharacters', 'hosts', 'commands', 'executables']))
      .optional()
      .meta({ description: 'Lists that a limit cuts: there may be more facts of these kinds.' }),
  })
  .meta({
    id: 'ChangeFacts',
    description: 'What a reviewer looks for, of the new side; a key stands only where there is something.',
  })
export type ChangeFacts = z.infer<typeof ChangeFacts>

const NullableSize = z.int().min(0).nullable()
const Tokens = NullableSize.meta({ description: 'An estimate.' })

export const SkillSide = z
  .object({
    sha256: Sha256.nullable().meta({
      description: 'As `skills` says it; `null` when something is missing, or only a description is served.',
    }),
    bytes: NullableSize,
    tokens: Tokens,
    license: License,
    full: z.boolean(),
    complete: z.boolean(),
  })
  .meta({ id: 'SkillSide' })
export type SkillSide = z.infer<typeof SkillSide>

export const DocumentSide = z
  .object({ sha256: Sha256.nullable(), bytes: NullableSize, tokens: Tokens, license: License, full: z.boolean() })
  .meta({ id: 'DocumentSide', description: 'The file of a document; the numbers are `null` when it is not served.' })
export type DocumentSide = z.infer<typeof DocumentSide>

export const FileSide = z
  .object({ sha256: Sha256.nullable(), bytes: NullableSize, tokens: Tokens })
  .meta({ id: 'FileSide', description: 'The file of a manifest; its values are `null` when `files` refuses it.' })
export type FileSide = z.infer<typeof FileSide>

const MovedFrom = Path.optional().meta({ description: 'The old path; present when it moved.' })
const ItemChange = z.enum(['added', 'removed', 'changed', 'moved'])
export type ItemChange = z.infer<typeof ItemChange>

const skillItem = {
  kind: z.literal('skill'),
  path: Path,
  directory: Path,
  name: z.string(),
  movedFrom: MovedFrom,
  parts: z.array(z.enum(SKILL_PARTS)).meta({ description: 'Those that changed; empty when it was added or removed.' }),
  causes: z.array(Cause).meta({ description: 'By part, then path.' }),
  before: SkillSide.nullable(),
  after: SkillSide.nullable(),
  facts: ChangeFacts,
}

export const ChangedSkill = z.object({ ...skillItem, change: ItemChange }).meta({ id: 'ChangedSkill' })
export type ChangedSkill = z.infer<typeof ChangedSkill>

export const ChangedDocument = z
  .object({
    kind: z.literal('document'),
    path: Path,
    title: z.string(),
    change: ItemChange,
    movedFrom: MovedFrom,
    parts: z.array(z.enum(DOCUMENT_PARTS)),
    before: DocumentSide.nullable(),
    after: DocumentSide.nullable(),
    facts: ChangeFacts,
  })
  .meta({ id: 'ChangedDocument' })
export type ChangedDocument = z.infer<typeof ChangedDocument>

export const ChangedManifest = z
  .object({
    kind: z.literal('manifest'),
    path: Path,
    change: z.enum(['added', 'removed', 'changed']),
    parts: z.array(z.enum(MANIFEST_PARTS)),
    skills: Count.meta({ description: 'Skill items of the whole comparison whose causes name it.' }),
    before: FileSide.nullable(),
    after: FileSide.nullable(),
  })
  .meta({ id: 'ChangedManifest' })
export type ChangedManifest = z.infer<typeof ChangedManifest>

export const ChangeItem = z
  .discriminatedUnion('kind', [ChangedSkill, ChangedDocument, ChangedManifest])
  .meta({ id: 'ChangeItem' })
export type ChangeItem = z.infer<typeof ChangeItem>

const ChangesPage = z
  .object({
    status: z.literal('ready'),
    commit: Commit,
    ...sides,
    path: Path,
    counts: z
      .object({ skills: ChangeCount, documents: ChangeCount, manifests: ChangeCount })
      .meta({ description: 'Of the whole comparison, the same on every page.' }),
    notCompared: Counts.meta({
      description:
        'Skills and documents of the new side whose texts are not compared, since their license permits only a description.',
    }),
    items: z.array(ChangeItem).meta({ description: 'By path, a moved one by its new path; then by kind.' }),
    diagnostics: z.array(Diagnostic).meta({ description: 'Of the new side.' }),
    nextCursor: NextCursor,
  })
  .meta({ id: 'ChangesPage' })
export type ChangesPage = z.infer<typeof ChangesPage>

export const SkillMetadata = z
  .object({
    name: z.string(),
    description: z.string(),
    frontMatter: z.record(z.string(), FrontMatterValue),
    translations: Translations,
  })
  .meta({ id: 'SkillMetadata' })
export type SkillMetadata = z.infer<typeof SkillMetadata>

const TextSide = z.object({ sha256: Sha256, bytes: Count }).meta({ id: 'TextSide', description: 'A text as it is delivered.' })

const DifferenceFragment = Fragment.extend({
  withinLine: z
    .literal(true)
    .optional()
    .meta({ description: 'Present when the piece begins within a line, whose sign stands in the piece before.' }),
})

export const ChangedText = z
  .object({
    kind: z.enum(['rules', 'body', 'includes']),
    path: Path,
    movedFrom: MovedFrom,
    change: z.enum(['added', 'removed', 'changed', 'moved', 'unchanged']),
    before: TextSide.nullable(),
    after: TextSide.nullable(),
    content: z.string().meta({
      description:
        'A piece of the unified difference, without file headers: three lines of context, and lines that end at `\\n` only.',
    }),
    fragment: DifferenceFragment.meta({ description: 'Which piece of the difference of this text it is.' }),
  })
  .meta({ id: 'ChangedText' })
export type ChangedText = z.infer<typeof ChangedText>

const SkillChangesPage = z
  .object({
    status: z.literal('ready'),
    commit: Commit,
    ...sides,
    skill: z.object({ ...skillItem, change: z.enum([...ItemChange.options, 'unchanged']) }).meta({ id: 'ComparedSkill' }),
    metadata: z.object({ before: SkillMetadata.nullable(), after: SkillMetadata.nullable() }),
    entries: z.array(ChangedText).meta({
      description:
        'The texts in order of delivery of the new side, then the removed ones. At most 16 KiB of differences on a page.',
    }),
    diagnostics: z.array(Diagnostic),
    nextCursor: NextCursor,
  })
  .meta({ id: 'SkillChangesPage' })
export type SkillChangesPage = z.infer<typeof SkillChangesPage>

const NotReady = {
  commit: Commit,
  ...sides,
}

/** `GET /api/v1/changes/<address>` */
export const ChangesAnswer = z
  .union([
    ChangesPage,
    SkillChangesPage,
    z.object({ status: z.literal('indexing'), ...NotReady }).meta({ id: 'ChangesIndexing' }),
    z
      .object({ status: z.literal('failed'), ...NotReady, errorCode: IndexErrorCode, retryAt: Instant })
      .meta({ id: 'ChangesFailed' }),
  ])
  .meta({ id: 'ChangesAnswer' })
export type ChangesAnswer = z.infer<typeof ChangesAnswer>
