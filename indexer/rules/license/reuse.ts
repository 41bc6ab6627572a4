import { baseNameOf, joinPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import { finding, reason } from '#words/findings.ts'
import type { Declaration } from './declaration.ts'
import { idsOfExpression, kindOfExpression } from './kind.ts'
import { readLicenseFileName } from './names.ts'
import { expressionOf, type Reading, readLicenseText } from './reading.ts'
import { joinExpressions, type ReuseFile, readReuseFile } from './reuse-file.ts'
import { findFile, type LicenseIssue, type Unrecognized, upwards } from './sources.ts'

/** What a `REUSE.toml` says of the files directly in a folder. */
export interface ReuseLicense {
  declaration: Declaration
  /** A file that it does not annotate; `null` when it annotates all. */
  unannotated: RepoPath | null
}

/**
 * What a `REUSE.toml` says of the files directly in a folder below it: the licenses of all of them, and of their sidecar files `.license`.
 * Headers inside files, which may name another license, are not read. So every license in `LICENSES/` has to be open, unless the annotation
 * overrides headers. `null` when it annotates none of the files.
 */
export function readReuse(reading: Reading, level: RepoPath, folder: RepoPath): ReuseLicense | null {
  const nearest = reuseFileIn(reading, level)
  if (nearest === null) return null
  const { file, source } = nearest
  if (!file.ok)
    return {
      declaration: closed(source, finding('license.unrecognized:reuse', { why: reason(FAULTS[file.why]) })),
      unannotated: null,
    }
  const above = upwards(level)
    .slice(1)
    .flatMap(folder => {
      const found = reuseFileIn(reading, folder)
      return found === null || !found.file.ok ? [] : [{ folder, annotations: found.file.annotations }]
    })
  const chain = [{ folder: level, annotations: file.annotations }, ...above]
  const files = annotatedFiles(reading, folder).map(name => ({ name, license: licenseOfFile(reading, folder, name, chain) }))
  const licenses = files.flatMap(({ license }) => license ?? [])
  const rest = files.find(({ license }) => license === null)
  const declaration = declarationOf(reading, source, licenses)
  return declaration === null ? null : { declaration, unannotated: rest === undefined ? null : joinPath(folder, rest.name) }
}

function declarationOf(reading: Reading, source: RepoPath, licenses: readonly FileLicense[]): Declaration | null {
  const unclear = licenses.find(({ sidecar }) => sidecar !== undefined)?.sidecar
  if (unclear !== undefined) return closed(unclear, finding('license.unrecognized:sidecar'))
  const expression = joinExpressions(licenses.map(({ expression }) => expression))
  if (expression === null) return null
  const declared: Declaration = { origin: 'file', ...kindOf(reading, expression), source, issues: [] }
  if (declared.kind !== 'open' || licenses.every(({ overrides }) => overrides)) return declared
  const others = licenseTexts(reading).filter(({ kind }) => kind !== 'open')
  if (others.length === 0) return declared
  const names = others.map(({ source }) => (reading.sources.isWithheld(source) ? 'a withheld file' : source)).join(', ')
  return { ...closed(source, finding('license.unrecognized:headers', { names })), name: declared.name }
}

/** The license of a folder in which a `REUSE.toml` annotates only some files; `rest`: the license of the others, which has to be open, too. */
export function withUnannotated(declared: Declaration, rest: Declaration | null, unannotated: RepoPath): Declaration {
  if (declared.kind !== 'open' || rest?.kind === 'restricted') return rest?.kind === 'restricted' ? rest : declared
  if (rest?.kind === 'open')
    return { ...declared, name: joinExpressions([declared.name, rest.name].filter(name => name !== null)) }
  return rest ?? closed(declared.source, finding('license.unrecognized:unannotated', { name: baseNameOf(unannotated) }))
}

/**
 * The licenses of a repository that has the folder `LICENSES` of the REUSE specification and no `REUSE.toml`: all of them have to be open. In that
 * folder each text is named by its id. Another name is that of a library whose license it is, and says nothing of the repository.
 */
export function readLicensesFolder(reading: Reading): Declaration | null {
  return reading.sources.filesIn(ROOT).has(REUSE_FILE) ? null : readLicenseTexts(reading)
}

/** The license texts in `LICENSES/` together; `null` when there are none. */
export function readLicenseTexts(reading: Reading): Declaration | null {
  const texts = licenseTexts(reading)
  const decisive = texts.find(({ kind }) => kind === 'restricted') ?? texts.find(({ kind }) => kind === 'unknown') ?? texts[0]
  if (decisive === undefined || decisive.kind !== 'open') return decisive ?? null
  const isReuse = [...reading.sources.filesIn(LICENSES as RepoPath).keys()].every(isNamedById)
  return isReuse ? { ...decisive, name: joinExpressions(texts.map(({ name }) => name ?? '')) } : null
}

function isNamedById(name: string): boolean {
  const id = LICENSE_TEXT_NAME.exec(name)?.[1] ?? ''
  return id.startsWith('LicenseRef-') || kindOfExpression(id) !== null
}

interface Level {
  folder: RepoPath
  annotations: Extract<ReuseFile, { ok: true }>['annotations']
}

interface FileLicense {
  expression: string
  /** Whatever the file says of itself does not count. */
  overrides: boolean
  /** The file beside it that should name the license, and names none. */
  sidecar?: RepoPath
}

/** @param chain the nearest first */
function licenseOfFile(reading: Reading, folder: RepoPath, name: string, chain: readonly Level[]): FileLicense | null {
  const matches = chain.flatMap(level => {
    const path = level.folder === ROOT ? joinPath(folder, name) : joinPath(folder, name).slice(level.folder.length + 1)
    const found = level.annotations.findLast(annotation => annotation.matches(path))
    return found === undefined ? [] : [found]
  })
  const override = matches.findLast(({ precedence }) => precedence === 'override')
  if (override !== undefined) return override.license === null ? null : { expression: override.license, overrides: true }
  const own = sidecarLicense(reading, folder, name)
  if (own === 'unclear') return { expression: '', overrides: false, sidecar: joinPath(folder, `${name}${SIDECAR}`) }
  const closest = own === null ? matches.slice(0, 1) : []
  const licenses = [...closest, ...matches.filter(({ precedence }) => precedence === 'aggregate')].map(({ license }) => license)
  const expression = joinExpressions([own, ...licenses].filter(license => license !== null))
  return expression === null ? null : { expression, overrides: false }
}

function annotatedFiles({ sources }: Reading, folder: RepoPath): string[] {
  const names = [...sources.filesIn(folder).keys()]
  return names.filter(name => name !== REUSE_FILE && !name.endsWith(SIDECAR) && readLicenseFileName(name, true) === null)
}

/** The expression of the file `<name>.license`; `unclear` when it cannot be read, or names none. */
function sidecarLicense({ sources }: Reading, folder: RepoPath, name: string): string | null {
  const oid = sources.filesIn(folder).get(`${name}${SIDECAR}`)?.oid
  if (oid === undefined) return null
  const text = sources.textOf(oid) ?? ''
  const declared = [...text.matchAll(/SPDX-License-Identifier:(.*)/g)].map(([, expression = '']) => expression.trim())
  return declared.length > 0 && declared.every(one => kindOfExpression(one) !== null) ? joinExpressions(declared) : 'unclear'
}

function reuseFileIn(reading: Reading, folder: RepoPath): { file: ReuseFile; source: RepoPath } | null {
  const oid = reading.sources.filesIn(folder).get(REUSE_FILE)?.oid
  if (oid === undefined) return null
  const text = reading.sources.textOf(oid)
  if (text === undefined) return null
  const known = reading.reuse.get(oid)
  const file = known ?? (text === null ? ({ ok: false, why: 'toml' } as const) : readReuseFile(text))
  if (known === undefined) reading.reuse.set(oid, file)
  return { file, source: joinPath(folder, REUSE_FILE) }
}

/** An id of the repository's own, `LicenseRef-…`, is the license of its text in `LICENSES/`. */
function kindOf(reading: Reading, expression: string): Pick<Declaration, 'kind' | 'name'> {
  const declared = expressionOf(reading, expression)
  const ids = idsOfExpression(expression)
  if (declared.kind === 'open' || !ids.every(id => id.startsWith('LicenseRef-'))) return declared
  const texts = ids.map(id => licenseTexts(reading).find(({ source }) => source.startsWith(`${LICENSES}/${id}.`)))
  return texts.every(text => text?.kind === 'open')
    ? { kind: 'open', name: joinExpressions(texts.map(text => text?.name ?? '')) }
    : declared
}

function licenseTexts(reading: Reading): Declaration[] {
  const folder = LICENSES as RepoPath
  return [...reading.sources.filesIn(folder).keys()].sort().flatMap(name => {
    const file = findFile(reading.sources, folder, name)
    return file === null ? [] : [readLicenseText(reading, file)]
  })
}

function closed(source: RepoPath, found: Unrecognized): Declaration {
  const issue: LicenseIssue = { ...found, path: source }
  return { origin: 'file', kind: 'unknown', name: null, source, issues: [issue] }
}

const FAULTS = {
  toml: 'reuseToml',
  version: 'reuseVersion',
  annotations: 'reuseAnnotations',
  path: 'reusePath',
  expression: 'reuseExpression',
} as const
const REUSE_FILE = 'REUSE.toml'
const SIDECAR = '.license'
const LICENSE_TEXT_NAME = /^([\w.+-]+?)\.(?:txt|md)$/
const LICENSES = 'LICENSES'
