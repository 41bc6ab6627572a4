import { z } from 'zod'
import { FILE_LIMIT_CHARACTERS, READABLE_FILE_BYTES } from '../limits.ts'
import { Characters, Commit, Path, queryInteger } from './shared.ts'

export const FileQuery = z.strictObject({
  path: z.string().min(1).meta({ description: 'Canonical path of a file inside the mount.' }),
  offset: queryInteger(0, READABLE_FILE_BYTES).default(0),
  limit: queryInteger(FILE_LIMIT_CHARACTERS.min, FILE_LIMIT_CHARACTERS.max).default(FILE_LIMIT_CHARACTERS.default),
})
export type FileQuery = z.infer<typeof FileQuery>

/** One page of a text file (`GET /api/v1/files/<address>`). */
export const FilePage = z
  .object({
    kind: z.literal('file'),
    path: Path,
    content: z.string(),
    offset: Characters,
    nextOffset: Characters.nullable().meta({ description: '`null` on the last page.' }),
    totalLength: Characters,
    commit: Commit,
    size: z.int().min(0).meta({ description: 'Bytes of the whole file.' }),
  })
  .meta({ id: 'FilePage' })
export type FilePage = z.infer<typeof FilePage>
