import { z } from 'zod'
import { FIND_COPIES, FIND_LIMIT, FIND_QUERY_CHARACTERS } from '../limits.ts'
import { countCharacters } from '../text.ts'
import {
  Commit,
  CursorParameter,
  Diagnostic,
  DocumentListing,
  FailedAnswer,
  IndexingAnswer,
  License,
  NextCursor,
  Path,
  PathParameter,
  queryInteger,
  Translations,
} from './shared.ts'

export const FindQuery = z.strictObject({
  query: z
    .string()
    .refine(
      text => text.trim() !== '' && countCharacters(text) <= FIND_QUERY_CHARACTERS,
      `must be a text of 1 to ${FIND_QUERY_CHARACTERS} characters that is not blank`,
    )
    .meta({ description: 'Not blank.', minLength: 1, maxLength: FIND_QUERY_CHARACTERS }),
  path: PathParameter.optional().meta({
    description: 'Canonical folder inside the mount to search; default: the mounted folder.',
  }),
  cursor: CursorParameter,
  limit: queryInteger(FIND_LIMIT.min, FIND_LIMIT.max)
    .default(FIND_LIMIT.default)
    .meta({ description: 'Results on a page at most.' }),
})
export type FindQuery = z.infer<typeof FindQuery>

export const FoundSkill = z
  .object({
    kind: z.literal('skill'),
    path: Path,
    directory: Path,
    name: z.string(),
    description: z.string(),
    translations: Translations,
    license: License,
    describedOnly: z.literal(true).optional(),
    files: z.array(DocumentListing).meta({ description: 'Supporting files that match, best first.' }),
    moreFiles: z.int().min(0),
    copies: z
      .array(Path)
      .optional()
      .meta({
        description: `Byte-identical copies of the skill in the mount, at most ${FIND_COPIES}; absent when there is none.`,
      }),
    moreCopies: z.int().min(1).optional().meta({ description: 'How many further copies there are.' }),
  })
  .meta({ id: 'FoundSkill' })
export type FoundSkill = z.infer<typeof FoundSkill>

export const FoundDocument = DocumentListing.extend({ kind: z.literal('document') }).meta({ id: 'FoundDocument' })
export type FoundDocument = z.infer<typeof FoundDocument>

export const FoundItem = z.discriminatedUnion('kind', [FoundSkill, FoundDocument])
export type FoundItem = z.infer<typeof FoundItem>

const FindPage = z
  .object({
    status: z.literal('ready'),
    query: z.string(),
    commit: Commit,
    items: z.array(FoundItem),
    diagnostics: z.array(Diagnostic),
    nextCursor: NextCursor,
  })
  .meta({ id: 'FindPage' })
export type FindPage = z.infer<typeof FindPage>

/** `GET /api/v1/find/<address>` */
export const FindAnswer = z.discriminatedUnion('status', [FindPage, IndexingAnswer, FailedAnswer]).meta({ id: 'FindAnswer' })
export type FindAnswer = z.infer<typeof FindAnswer>
