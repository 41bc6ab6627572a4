import { joinPath, type RepoPath } from '#core/repo-path.ts'
import { say } from '#core/words/findings.ts'
import { isCopyrightOnly } from './copyright.ts'
import { combineDeclarations, type Declaration } from './declaration.ts'
import { idsOfExpression, isContentLicense, kindOfExpression } from './kind.ts'
import { takeLicenseNames } from './named-licenses.ts'
import { type LicenseFileName, readLicenseFileName } from './names.ts'
import { normalizeText } from './normalize.ts'
import { type Reading, readLicenseText } from './reading.ts'
import { ABSOLUTE, NAMING } from './significant-words.ts'
import { type FoundFile, findFile } from './tree-files.ts'

interface LicenseText extends LicenseFileName {
  oid: string
  text: Declaration
}

/**
 * The license files of a folder. Plain names take precedence over suffixed ones, except over those of another part: a license of texts
 * beside one of software. Dangling symlinks are ignored.
 */
export function readLicenseFiles(reading: Reading, folder: RepoPath, atRootOrSkill: boolean): Declaration | null {
  const texts = textsIn(reading, folder, atRootOrSkill)
  const plain = texts.filter(({ rank }) => rank === 'plain').map(({ text }) => text)
  const suffixed = texts.filter(({ rank }) => rank === 'suffixed')
  const main = joinPlain(reading, plain)
  if (main === null) return joinSuffixed(suffixed)
  if (main.kind !== 'open') return main
  // A file that offers a choice names the files with the texts.
  const choice = isChoice(main) ? joinSuffixed(suffixed) : null
  if (choice !== null && choice.kind !== 'open') return choice
  const parts = suffixed.filter(
    ({ names, text }) => names === 'content' || (text.kind !== 'unknown' && isContent(text) !== isContent(main)),
  )
  const { vague = [], clear = [] } = Object.groupBy(parts, ({ text, oid }) =>
    text.kind === 'unknown' && namesOpenLicense(reading, oid) ? 'vague' : 'clear',
  )
  const joined = joinParts(main, clear)
  return { ...joined, issues: [...joined.issues, ...vague.flatMap(({ text }) => text.issues)] }
}

/**
 * Whether a text that is not recognised names open licenses only, and no subject of a restriction: "texts are under CC BY 4.0, unless a notice
 * says otherwise". Such a text is told, and the plain file stays in force.
 */
function namesOpenLicense({ sources }: Reading, oid: string): boolean {
  const text = sources.textOf(oid)
  if (typeof text !== 'string' || text.length > NOTE_CHARACTERS) return false
  const { words } = normalizeText(text)
  const { ids } = takeLicenseNames(words)
  return (
    ids.size > 0 &&
    [...ids].every(id => kindOfExpression(id) === 'open') &&
    !words.some(word => ABSOLUTE.test(word) || NAMING.test(word))
  )
}

const NOTE_CHARACTERS = 3_000

/** A copyright file that reserves rights, which it does whatever else the folder declares. */
export function readReservation(reading: Reading, folder: RepoPath): Declaration | null {
  for (const name of reading.sources.filesIn(folder).keys()) {
    const file = readLicenseFileName(name, true)?.rank === 'copyright' ? findFile(reading.sources, folder, name) : null
    if (file === null || isNotice(reading, file)) continue
    const text = readLicenseText(reading, file)
    if (text.kind === 'restricted') return text
  }
  return null
}

/** The file that counts where a folder declares nothing else: a copyright file with a license, or a license that cannot be read. */
export function readOtherFile(reading: Reading, folder: RepoPath): Declaration | null {
  for (const name of [...reading.sources.filesIn(folder).keys()].sort()) {
    const rank = readLicenseFileName(name, true)?.rank
    const file = rank === 'copyright' || rank === 'unread' ? findFile(reading.sources, folder, name) : null
    if (file === null) continue
    if (rank === 'copyright') {
      const text = readLicenseText(reading, file)
      if (text.kind !== 'unknown' || !isNotice(reading, file)) return text
      continue
    }
    const message = say('license.unrecognized:format')
    const issues = [{ code: 'license.unrecognized' as const, message, path: file.path }]
    return { origin: 'file', kind: 'unknown', name: null, source: joinPath(folder, name), issues }
  }
  return null
}

/** Whether a copyright file only names the holders, who may reserve their rights. */
function isNotice({ sources }: Reading, { oid }: FoundFile): boolean {
  const text = sources.textOf(oid)
  if (typeof text !== 'string') return false
  const { words, copyright } = normalizeText(text)
  return words.length === 0 && copyright.every(line => isCopyrightOnly(line, new Set()))
}

function textsIn(reading: Reading, folder: RepoPath, atRootOrSkill: boolean): LicenseText[] {
  const found: (LicenseText & { name: string })[] = []
  for (const name of reading.sources.filesIn(folder).keys()) {
    const meaning = readLicenseFileName(name, atRootOrSkill)
    if (meaning?.rank !== 'plain' && meaning?.rank !== 'suffixed') continue
    const file = findFile(reading.sources, folder, name)
    if (file !== null) found.push({ ...meaning, name, oid: file.oid, text: readLicenseText(reading, file) })
  }
  return found.sort((left, right) => fileOrder(left.name) - fileOrder(right.name) || (left.name < right.name ? -1 : 1))
}

function fileOrder(name: string): number {
  const order = ['license', 'licence', 'copying', 'unlicense'].findIndex(stem => name.toLowerCase().startsWith(stem))
  return order < 0 ? Number.MAX_SAFE_INTEGER : order
}

/** Combines files that each claim to be the license: all of them must be open. */
function joinPlain(reading: Reading, texts: readonly Declaration[]): Declaration | null {
  return (
    texts.find(({ kind }) => kind === 'restricted') ??
    texts.find(({ kind }) => kind === 'unknown') ??
    combineDeclarations(texts, reading.sources)
  )
}

/** Combines `LICENSE-MIT` and `LICENSE-APACHE` as a choice; a file for a part of the folder, or for its texts, must be open, too. */
function joinSuffixed(texts: readonly LicenseText[]): Declaration | null {
  const isPart = ({ names, text }: LicenseText) => names !== 'license' || isContent(text)
  const choices = texts.filter(one => !isPart(one)).map(({ text }) => text)
  const open = choices.filter(({ kind }) => kind === 'open')
  const first = open[0] ?? choices.find(({ kind }) => kind === 'restricted') ?? choices[0]
  const parts = texts.filter(isPart)
  if (first === undefined) return parts[0] === undefined ? null : joinParts(parts[0].text, parts.slice(1))
  const name = open.length > 1 ? unique(open.map(({ name }) => name)).join(' OR ') : first.name
  return joinParts({ ...first, name }, parts)
}

/** Licenses of different parts: whoever takes the whole needs all of them, so one that is not open decides. */
function joinParts(main: Declaration, parts: readonly LicenseText[]): Declaration {
  const texts = parts.map(({ text }) => text)
  const closed = texts.find(({ kind }) => kind === 'restricted') ?? texts.find(({ kind }) => kind === 'unknown')
  if (closed !== undefined) return closed
  if (main.kind !== 'open') return main
  const names = unique([main, ...texts].map(({ name }) => name))
  return { ...main, name: names.map(name => (names.length > 1 && name?.includes(' OR ') ? `(${name})` : name)).join(' AND ') }
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}

function isChoice({ name }: Declaration): boolean {
  return name?.includes(' OR ') === true
}

/** Whether the text is a license of texts, data or fonts alone. */
function isContent({ name }: Declaration): boolean {
  const ids = idsOfExpression(name ?? '')
  return ids.length > 0 && ids.every(isContentLicense)
}
