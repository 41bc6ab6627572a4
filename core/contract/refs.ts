import { z } from 'zod'
import { Commit, Instant } from './shared.ts'

const Branch = z.object({ name: z.string(), commit: Commit }).meta({ id: 'Branch' })
const Tag = z
  .object({
    name: z.string(),
    commit: Commit.optional().meta({
      description: 'What the tag leads to. Absent where that is no commit, or cannot be said now.',
    }),
    date: Instant.optional().meta({ description: 'Of the commit; present where the host tells it without a question a tag.' }),
  })
  .meta({ id: 'Tag' })

/** `GET /api/v1/refs/<address>`: the names that an address of the repository may have after its `@`. */
export const RefList = z
  .object({
    defaultBranch: z.string(),
    branches: z.array(Branch).meta({ description: 'In byte order of their names.' }),
    tags: z.array(Tag).meta({ description: 'In byte order of their names.' }),
    truncated: z.boolean().meta({ description: 'The repository has more branches or more tags than are listed.' }),
  })
  .meta({ id: 'RefList' })
export type RefList = z.infer<typeof RefList>
