import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * Repositories whose license text the rules do not recognize, so that only titles and summaries of their files are searched, by the license
 * that they mean for their text. A search over bodies cannot be evaluated with them as they are.
 */
const MEANT: Readonly<Record<string, string>> = { 'vuejs-translations__docs-ja': 'CC-BY-4.0' }

/** Replaces the license text of such a repository by the plain one. The note says so; `null` where nothing was changed. */
export function adaptLicense(directory: string, folder: string): string | null {
  const id = MEANT[directory]
  if (id === undefined) return null
  const file = createRequire(import.meta.url).resolve(`spdx-license-list/licenses/${id}.json`)
  const { licenseText } = JSON.parse(readFileSync(file, 'utf8')) as { licenseText: string }
  writeFileSync(join(folder, 'LICENSE'), licenseText)
  return `${directory} is a copy whose LICENSE is the plain ${id}: as it is, its text is of unknown license and searched by title and summary only`
}
