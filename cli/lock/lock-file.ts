import { z } from 'zod'
import { formatAddress, HOST_NAMES, parseAddress } from '#core/address.ts'
import { Commit, License, Path, Sha256 } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { escapeHidden } from '#core/hidden-text.ts'
import { compareBytes } from '#core/text.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'

/** The lock file cannot be used. The message says why, and what to do. */
export class LockFileError extends SentenceError {}

export const LOCK_FILE = 'mountglass.lock.json'

/** Grows when an older Mountglass would misread the file. */
const VERSION = 2

/** A text as agents read it. */
const PinnedText = z.strictObject({ path: Path, sha256: Sha256 })
export type PinnedText = z.infer<typeof PinnedText>

const PinnedFile = z.strictObject({
  path: Path,
  /** Of the bytes of the file; `null`: the service does not hold them, because the file is too large. */
  sha256: Sha256.nullable(),
})
export type PinnedFile = z.infer<typeof PinnedFile>

const PinnedSkill = z.strictObject({
  path: Path,
  /** Of everything that agents read of the skill: rules, body and includes. `null` unless it is delivered in full. */
  sha256: Sha256.nullable(),
  /** Why there is no digest. Absent when there is one. */
  delivery: z.enum(['described', 'incomplete']).optional(),
  /** Of name, description, front matter and translations, which agents read of every skill. */
  metadata: Sha256,
  license: License,
  /** In the order of delivery. */
  rules: z.array(PinnedText),
  /** Of the text below the front matter; `null` if the skill is only described. */
  body: Sha256.nullable(),
  /** In the order of delivery. */
  includes: z.array(PinnedText),
  /** The `SKILL.md`, which has the front matter too, and the supporting files. */
  files: z.array(PinnedFile),
})
export type PinnedSkill = z.infer<typeof PinnedSkill>

const PinnedAddress = z.strictObject({
  address: z.string().refine(isCanonical),
  commit: Commit,
  /** A limit of indexing was reached: there may be skills that are not listed. */
  partial: z.literal(true).optional(),
  /** By path. */
  skills: z.array(PinnedSkill),
})
export type PinnedAddress = z.infer<typeof PinnedAddress>

const LockFile = z.strictObject({ version: z.literal(VERSION), addresses: z.array(PinnedAddress) })
export type LockFile = z.infer<typeof LockFile>

export function emptyLock(): LockFile {
  return { version: VERSION, addresses: [] }
}

/** @throws LockFileError when the text is damaged, or written by a newer version */
export function parseLockFile(text: string): LockFile {
  const json = parseJson(text)
  const version = z.object({ version: z.int() }).safeParse(json).data?.version
  if (version !== undefined && version > VERSION) throw new LockFileError(t('problem.lockNewer', { version, known: VERSION }))
  if (version !== undefined && version < VERSION) throw new LockFileError(t('problem.lockOlder', { version }))
  const parsed = LockFile.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const isAddress = issue?.code === 'custom' && issue.path.at(-1) === 'address'
    const problem = isAddress ? t('problem.notCanonical') : (issue?.message ?? '')
    throw damaged(t('problem.ofText', { text: issue?.path.join('.') || t('problem.theFile'), problem }))
  }
  const seen = new Set<string>()
  for (const { address } of parsed.data.addresses) {
    if (seen.has(address)) throw damaged(t('problem.lockTwice', { address }))
    seen.add(address)
  }
  return parsed.data
}

/**
 * The same content gives the same text: addresses, skills and files by the bytes of their names, a file or a text a line, hidden characters escaped.
 */
export function formatLockFile({ version, addresses }: LockFile): string {
  const ordered = {
    version,
    addresses: [...addresses]
      .sort((left, right) => compareBytes(left.address, right.address))
      .map(({ address, commit, partial, skills }) => ({
        address,
        commit,
        ...(partial && { partial }),
        skills: [...skills].sort(byPath).map(formattedSkill),
      })),
  }
  return `${escapeHidden(JSON.stringify(ordered, null, 2))
    .replace(FILE_ON_LINES, '{ $1, $2 }')
    .replace(LICENSE_ON_LINES, '{ $1, $2, $3 }')}\n`
}

function formattedSkill({ path, sha256, delivery, metadata, license, rules, body, includes, files }: PinnedSkill): PinnedSkill {
  const { kind, name, source } = license
  const texts = (list: readonly PinnedText[]) => list.map(({ path, sha256 }) => ({ path, sha256 }))
  return {
    path,
    sha256,
    ...(delivery && { delivery }),
    metadata,
    license: { kind, name, source },
    rules: texts(rules),
    body,
    includes: texts(includes),
    files: [...files].sort(byPath).map(({ path, sha256 }) => ({ path, sha256 })),
  }
}

// Objects as `JSON.stringify` writes them. Line breaks inside of texts are escaped there, so none is matched.
const FILE_ON_LINES = /\{\n\s+("path": .*),\n\s+("sha256": .*)\n\s+\}/g
const LICENSE_ON_LINES = /\{\n\s+("kind": .*),\n\s+("name": .*),\n\s+("source": .*)\n\s+\}/g

function byPath(left: { path: string }, right: { path: string }): number {
  return compareBytes(left.path, right.path)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged((error as Error).message)
  }
}

function damaged(reason: string): LockFileError {
  return new LockFileError(t('problem.lockDamaged', { reason }))
}

function isCanonical(text: string): boolean {
  try {
    return formatAddress(parseAddress(text, Object.keys(HOST_NAMES))) === text
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return false
  }
}
