import { readFileSync } from 'node:fs'

/** One license of the SPDX list. */
export interface LicenseName {
  id: string
  name: string
  /** Approved by the Open Source Initiative. */
  osi: boolean
}

/** The words of a license, or of a standard notice. Copies may leave out what stands `before` and `after`. */
export interface LicenseTemplate {
  id: string
  before?: string
  words: string
  after?: string
}

/** Every license of the SPDX list. Read at the first call; `scripts/make-license-data.ts` makes the file. */
export const licenseNames = once((): LicenseName[] => readLines('names.jsonl') as LicenseName[])

/** Texts of the licenses that matter. Read at the first call. */
export const licenseTemplates = once((): LicenseTemplate[] => readLines('templates.jsonl') as LicenseTemplate[])

export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

// Our own files, next to this module: reading them is part of loading it, only later.
function readLines(name: string): unknown[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map(line => JSON.parse(line))
}
