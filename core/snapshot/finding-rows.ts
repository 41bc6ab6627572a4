import { z } from 'zod'
import type { Said } from '#words/t.ts'
import { Diagnostic, Path, Warning } from '../contract/shared.ts'

type StoredValue = string | number | Said

/** The values of a sentence: texts, numbers, and other sentences. */
const Values: z.ZodType<Record<string, StoredValue>> = z.record(
  z.string(),
  z.lazy(() => z.union([z.string(), z.number(), SaidRow])),
)

/** A sentence of the catalogue in `words`, by its key. */
export const SaidRow: z.ZodType<Said> = z.object({ key: z.string(), values: Values.optional() })

/** What a finding says, instead of a message: see `Finding` in `words/findings.ts`. */
const said = { case: z.string().optional(), values: Values.optional() }

export const WarningRow = Warning.omit({ message: true, level: true }).extend(said)
export type WarningRow = z.infer<typeof WarningRow>

export const DiagnosticRow = Diagnostic.omit({ message: true }).extend(said)
export type DiagnosticRow = z.infer<typeof DiagnosticRow>

/** What `check` and `GET /api/v1/findings` tell an author, before the folder is known that is asked for. */
export const FoundRow = z.object({
  code: z.string(),
  ...said,
  severity: Diagnostic.shape.severity,
  path: Path,
  line: z.int().min(1).optional(),
  field: z.string().optional(),
  /** Left out where the diagnostics of this file are told: one of them says the same. */
  besides: Path.optional(),
  /** Told only where this path can be read. */
  within: Path.optional(),
  /** Identifies it in `costs` of the skills that it keeps from agents. */
  cause: z.string().optional(),
  /** How many skills lie in the folder that it closes. */
  closes: z.int().min(1).optional(),
})
export type FoundRow = z.infer<typeof FoundRow>

/** What was found about one file: its diagnostics, or what concerns a skill. */
export const FindingsRow = z.object({
  found: z.array(FoundRow),
  /** Path of the `SKILL.md`, on the row of a skill. */
  skill: Path.optional(),
  /** Of the skill, as listings have it. */
  name: z.string().optional(),
  /** Its license permits only a description. */
  describedOnly: z.literal(true).optional(),
  /** Diagnostics that are stored of this skill alone. */
  diagnostics: z.array(FoundRow).optional(),
  /** Linked files outside the folder of the skill. */
  leaving: z.array(Path).optional(),
  /** `cause` of the findings at other files that keep it from agents. */
  costs: z.array(z.string()).optional(),
})
export type FindingsRow = z.infer<typeof FindingsRow>
