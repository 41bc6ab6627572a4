import { z } from 'zod'
import { factsOfWholeSkill, textKeysOf } from '#core/changes/facts.ts'
import type { FragmentOfFile, Warning } from '#core/contract/shared.ts'
import type { Skill, SkillFacts, SkillPage, SkillQuery } from '#core/contract/skill.ts'
import { ServiceError } from '#core/errors.ts'
import { withLevel, withMessage } from '#core/finding-messages.ts'
import { SKILL_PAGE_BYTES, WARNINGS_PER_SKILL } from '#core/limits.ts'
import { baseNameOf, foldPath, isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import { type ContextCut, type ContextPiece, type ContextPosition, cutSkillContext, START } from '#core/skill-pages.ts'
import { itemKey } from '#core/snapshot/delivered.ts'
import type { ContextPart, ContextRow } from '#core/snapshot/format.ts'
import { countCharacters, decodeText, utf8Length } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import type { Deps } from '../deps.ts'
import { warningsInMount } from '../mount/folder.ts'
import type { ReadyMount } from '../mount/open-mount.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { readCursor, sealCursor } from './cursor.ts'

/** A position as stored in a cursor. */
export const SkillPosition = z.tuple([z.int(), z.int(), z.int(), z.int()])

/**
 * One page of a skill: its metadata, and at most 16 KiB of its rules, body and includes.
 *
 * @param pageBytes bytes of a shorter page
 * @throws ServiceError `skill.not_found`, `skill.ambiguous`, `request.invalid`, `skill.unavailable`
 */
export async function readSkillPage(
  deps: Pick<Deps, 'cursorKeys'>,
  mount: ReadyMount,
  query: SkillQuery,
  pageBytes = SKILL_PAGE_BYTES,
): Promise<SkillPage> {
  const { snapshot, repository, commit, address } = mount
  const path = query.path as RepoPath
  const row = isInside(address.path, path) ? await snapshot.get('contexts', path) : null
  if (row === null) throw await missingSkill(mount, query.path)
  const binding = { route: 'skills', repositoryId: repository.id, commit, parameters: { mount: address.path, path } }
  const start = query.cursor === undefined ? START : toPosition(readCursor(deps.cursorKeys, binding, query.cursor, SkillPosition))
  if (row.full === undefined) return describedPage(mount, path, row)

  const pieces = piecesOf(path, row.full)
  const needed = piecesOfPage(pieces, start, pageBytes)
  const texts = await Promise.all(needed.map(piece => readPiece(snapshot, piece)))
  const { cuts, next } = cutSkillContext(needed, texts, start, pageBytes)
  const missing = row.full.incomplete
  const facts = start === START ? await readFacts(snapshot, path) : {}
  return {
    status: 'ready',
    commit,
    skill: {
      ...skillMetadata(mount, path, row, true),
      ...firstPageFields(mount, row, row.full, start === START),
      ...(Object.keys(facts).length > 0 && { facts }),
      ruleChain: cuts.filter(isKind('rule')).map(toFragmentOfFile),
      body: cuts.find(isKind('body'))?.content ?? '',
      bodyFragment: cuts.find(isKind('body'))?.fragment ?? null,
      includes: cuts.filter(isKind('include')).map(toFragmentOfFile),
    },
    complete: next === null && !missing,
    // Paging cannot deliver missing parts, so the last page has no `nextCursor`, not even `null`.
    ...(next === null && missing ? {} : { nextCursor: next && sealCursor(deps.cursorKeys, binding, fromPosition(next)) }),
    diagnostics: row.diagnostics.map(withMessage),
  }
}

/** The pieces a page may contain, and one more, which shows whether another page follows. */
function piecesOfPage(pieces: readonly StoredPiece[], start: ContextPosition, pageBytes: number): StoredPiece[] {
  let bytes = -start.offsetBytes
  const end = pieces.findIndex((piece, number) => {
    if (number >= start.piece) bytes += piece.sizeBytes
    return bytes > pageBytes
  })
  return pieces.slice(start.piece, end < 0 ? undefined : end + 1)
}

type Full = NonNullable<ContextRow['full']>
type StoredPiece = (ContextPiece & { text: string }) | (ContextPiece & { part: ContextPart })

function piecesOf(path: string, full: Full): StoredPiece[] {
  const stored =
    (kind: 'rule' | 'include') =>
    (part: ContextPart): StoredPiece => {
      const { path, characters, tokens, slice } = part
      return { kind, path, characters, sizeBytes: slice.lengthBytes, tokens, part }
    }
  const body: StoredPiece = {
    kind: 'body',
    path,
    characters: countCharacters(full.body),
    sizeBytes: utf8Length(full.body),
    tokens: full.bodyTokens,
    text: full.body,
  }
  return [...full.rules.map(stored('rule')), body, ...full.includes.map(stored('include'))]
}

async function readPiece(snapshot: Snapshot, piece: StoredPiece): Promise<string> {
  if ('text' in piece) return piece.text
  const { record, offsetBytes, lengthBytes } = piece.part.slice
  const bytes = (await snapshot.record(record)).subarray(offsetBytes, offsetBytes + lengthBytes)
  const text = decodeText(bytes)
  if (text === null || bytes.length !== lengthBytes || countCharacters(text) !== piece.characters) {
    throw new ServiceError('skill.unavailable', { cause: new Error(`the record of ${piece.path} does not match its row`) })
  }
  return text
}

function skillMetadata({ host, repository, commit, address }: ReadyMount, path: RepoPath, row: ContextRow, full: boolean) {
  const { directory, name, description, frontMatter, translations, license } = row
  const warnings = warningsInMount(address.path, row.warnings, !full)
  const serving = { license, full, sourceUrl: host.urls.raw(repository, commit, row.target ?? path) }
  return { path, directory, name, description, frontMatter, warnings, translations, serving }
}

function describedPage(mount: ReadyMount, path: RepoPath, row: ContextRow): SkillPage {
  return {
    status: 'ready',
    commit: mount.commit,
    skill: { ...skillMetadata(mount, path, row, false), body: '', bodyFragment: null },
    complete: true,
    nextCursor: null,
    diagnostics: row.diagnostics.map(withMessage),
  }
}

/** Empty for a skill that is not listed: comparisons leave it out, too. */
async function readFacts(snapshot: Snapshot, path: RepoPath): Promise<SkillFacts> {
  const row = await snapshot.get('delivered', itemKey(path, 'skill'))
  if (row?.kind !== 'skill') return {}
  const keys = textKeysOf({ path, row })
  const rows = await Promise.all(keys.map(async key => [key, await snapshot.get('delivered', key)] as const))
  const texts = new Map(rows.flatMap(([key, text]) => (text?.kind === 'text' ? [[key, text.facts] as const] : [])))
  return factsOfWholeSkill({ path, row }, texts)
}

type FirstPageFields = Pick<Skill, 'warnings' | 'files' | 'fileDetails' | 'sha256' | 'budget' | 'references' | 'oversized'>

function firstPageFields(
  { host, repository, commit, address }: ReadyMount,
  row: ContextRow,
  full: Full,
  first: boolean,
): FirstPageFields {
  const isReadable = (path: string) => isInside(address.path, path as RepoPath)
  const oversized = full.oversized
    .filter(({ path }) => isReadable(path))
    .map(({ path, sizeBytes, target }) => ({
      path,
      size: sizeBytes,
      sourceUrl: host.urls.raw(repository, commit, target ?? path),
    }))
  const hasOversized = oversized.length > 0
  if (!first) return { warnings: [], files: [], references: [], ...(hasOversized && { oversized: [] }) }
  const outside = full.references.filter(path => !isReadable(path)).map(outsideWarning)
  return {
    warnings: [...warningsInMount(address.path, row.warnings, false), ...outside].slice(0, WARNINGS_PER_SKILL),
    files: full.files,
    fileDetails: full.fileDetails.map(({ path, sizeBytes, sha256 }) => ({ path, size: sizeBytes, sha256 })),
    ...(full.sha256 === undefined ? {} : { sha256: full.sha256 }),
    budget: full.budget,
    references: full.references.filter(isReadable),
    ...(hasOversized && { oversized }),
  }
}

function outsideWarning(path: string): Warning {
  return withLevel(finding('reference.outside:mount', { path }))
}

/** The error for a path without a skill. Only exact paths are answered; a request by name or folder learns the paths. */
async function missingSkill({ snapshot, address }: ReadyMount, asked: string): Promise<ServiceError> {
  const wanted = asked.endsWith('/') ? asked.slice(0, -1) : asked
  const skills = await snapshot.range('skills', { prefix: address.path === '' ? '' : `${address.path}/` })
  const meant = skills
    .map(([, skill]) => skill)
    .filter(skill => {
      return [skill.name, skill.directory, baseNameOf(skill.directory as RepoPath)].includes(wanted) && wanted !== ''
    })
  const [only, ...others] = meant
  if (only === undefined)
    return missingPath(
      skills.map(([path]) => path),
      wanted,
    )
  if (others.length > 0) {
    const directories = meant.slice(0, CHOICES).map(skill => skill.directory)
    return new ServiceError('skill.ambiguous', { directories, ...(meant.length > CHOICES && { message: tooMany(meant.length) }) })
  }
  return new ServiceError('skill.not_found', { message: didYouMean(only.path) })
}

/** Names the skill whose path or folder differs in upper and lower case or in Unicode normalization alone. */
function missingPath(paths: readonly string[], wanted: string): ServiceError {
  const folded = foldPath(wanted)
  const near = paths.find(path => folded !== '' && [path, parentOf(path as RepoPath)].some(one => foldPath(one) === folded))
  return new ServiceError('skill.not_found', near === undefined ? {} : { message: didYouMean(near) })
}

function didYouMean(path: string): string {
  return `there is no skill at this path; did you mean ${path}?`
}

/** Directories listed for an ambiguous name. */
const CHOICES = 100

function tooMany(count: number): string {
  return `${count} skills match; repeat the request with one of the first ${CHOICES} directories, or mount a smaller folder`
}

function toFragmentOfFile({ piece, content, fragment }: ContextCut): FragmentOfFile {
  return { path: piece.path, content, fragment }
}

function isKind(kind: ContextPiece['kind']) {
  return (cut: ContextCut) => cut.piece.kind === kind
}

function toPosition([piece, offsetCharacters, offsetBytes, fragment]: z.infer<typeof SkillPosition>): ContextPosition {
  return { piece, offsetCharacters, offsetBytes, fragment }
}

function fromPosition({ piece, offsetCharacters, offsetBytes, fragment }: ContextPosition): z.infer<typeof SkillPosition> {
  return [piece, offsetCharacters, offsetBytes, fragment]
}
