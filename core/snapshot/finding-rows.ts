import { z } from 'zod'
import type { Said } from '#words/t.ts'
import { Diagnostic, Warning } from '../contract/shared.ts'

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

export const WarningRow = Warning.omit({ message: true }).extend(said)
export type WarningRow = z.infer<typeof WarningRow>

export const DiagnosticRow = Diagnostic.omit({ message: true }).extend(said)
export type DiagnosticRow = z.infer<typeof DiagnosticRow>
