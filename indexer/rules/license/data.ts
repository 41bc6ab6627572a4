import { readFileSync } from 'node:fs'

/** One license of the SPDX list. */
export interface LicenseName {
  id: string
  name: string
  /** Approved by the Open Source Initiative. */
  osi: boolean
}

/** The words of a license or of a standard notice. Copies may leave out the words of `before` and `after`. */
export interface LicenseTemplate {
  id: string
  before?: string
  words: string
  after?: string
}

/** Every license of the SPDX list. Loaded by the first call; `scripts/make-license-data.ts` generates the file. */
export const licenseNames = once((): LicenseName[] => readLines('names.jsonl') as LicenseName[])

/** Texts of the common licenses. Loaded by the first call. */
export const licenseTemplates = once((): LicenseTemplate[] => readLines('templates.jsonl') as LicenseTemplate[])

/** Memoizes a function without arguments. */
export function once<Value>(compute: () => Value): () => Value {
  let memo: { value: Value } | null = null
  return () => {
    memo ??= { value: compute() }
    return memo.value
  }
}

// The files belong to this module, so reading them synchronously is like importing it later.
function readLines(name: string): unknown[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map(line => JSON.parse(line))
}
