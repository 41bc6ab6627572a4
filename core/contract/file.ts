import { z } from 'zod'
import { FILE_LIMIT_CHARACTERS, READABLE_FILE_BYTES } from '../limits.ts'
import { Characters, Commit, Path, PathParameter, queryInteger, Sha256 } from './shared.ts'

export const FileQuery = z.strictObject({
  path: PathParameter.min(1, 'is empty; name a file').meta({ description: 'Canonical path of a file inside the mount.' }),
  offset: queryInteger(0, READABLE_FILE_BYTES).default(0).meta({ description: 'Characters before the page.' }),
  limit: queryInteger(FILE_LIMIT_CHARACTERS.min, FILE_LIMIT_CHARACTERS.max)
    .default(FILE_LIMIT_CHARACTERS.default)
    .meta({ description: 'Characters on the page at most.' }),
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
    sha256: Sha256.meta({ description: 'Of the bytes of the whole file.' }),
    target: Path.optional().meta({ description: 'Where a symbolic link leads, if this address can read it there, too.' }),
  })
  .meta({ id: 'FilePage' })
export type FilePage = z.infer<typeof FilePage>
