import { z } from 'zod'
import { Sha256 } from '../contract/shared.ts'
import { SaidRow } from './finding-rows.ts'

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
