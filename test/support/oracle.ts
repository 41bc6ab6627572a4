import { posix } from 'node:path'
import { type Fields, mappingOf, splitParts, splitSkill, wordsOf } from './oracle-front-matter.ts'
import { ignoredBelow, listTree, MIB, readBlobs } from './oracle-git.ts'

/*
 * A second, straightforward reading of the rules: from git's plumbing alone, without a line of the indexer or of core.
 * What licenses say is not read again; whoever asks gives it.
 */

/** What an agent has to receive of one skill, in the order of the contract. */
export interface ExpectedContext {
  rules: { path: string; text: string }[]
  body: string
  includes: { path: string; text: string }[]
}

export interface Oracle {
  /** Every `SKILL.md` that is a skill, in byte order. */
  skills: ExpectedSkill[]
  /** Files that browsing shows. */
  listed: Set<string>
  documents: Set<string>
  /** Markdown files of listed skills, with the folder of the skill: documents of a mount that leaves it outside. */
  pages: Map<string, string>
  /** Files that can be read whatever links to them, with what they hold; `null`: not text that can be read. */
  readable: Map<string, string | null>
  /** Regular files that are nothing by themselves. They can be read only where something links to them. */
  unlisted: Set<string>
  /** Files, links and files behind links that no route may name. */
  withheld: Set<string>
  links: Set<string>
  /** The manifests in force that are not withheld themselves, by path. */
  manifests: Map<string, Manifest>
  /** The blob and the executable bit of any regular file. */
  fileOf(path: string): { oid: string; isExecutable: boolean } | null
  /** The content of any regular file that is text. */
  textOf(path: string): string | null
}

export interface ExpectedSkill {
  path: string
  directory: string
  internal: boolean
  /** A symlink gives it its path, and it is listed by another one. */
  isSecond: boolean
  /** Paths of its files, in byte order. */
  files: string[]
  context: ExpectedContext
  /** Nothing of what is required is missing. */
  complete: boolean
}

/** What an agent receives of one skill that is delivered in full. */
export function expectedContext(gitDir: string, commit: string, skillPath: string): ExpectedContext {
  const skill = readOracle(gitDir, commit).skills.find(({ path }) => path === skillPath)
  if (!skill) throw new Error(`there is no skill ${skillPath}`)
  return skill.context
}

/** @param isServed whether the license of a file lets it be delivered; default: of every file */
export function readOracle(gitDir: string, commit: string, isServed: IsServed = () => true): Oracle {
  return openOracle(gitDir, commit)(isServed)
}

type IsServed = (path: string) => boolean

/** Reads a tree once. The licenses of its files can then be asked for several times. */
export function openOracle(gitDir: string, commit: string): (isServed: IsServed) => Oracle {
  const entries = listTree(gitDir, commit)
  const regular = entries.filter(({ mode }) => mode === '100644' || mode === '100755')
  const small = regular.filter(({ bytes }) => bytes <= MIB)
  const blobs = readBlobs(gitDir, [...new Set(small.map(({ oid }) => oid))])
  const oids = new Map(small.map(({ path, oid }) => [path, oid]))
  const regularByPath = new Map(regular.map(entry => [entry.path, entry]))
  const texts = new Map([...blobs].map(([oid, blob]) => [oid, textOfBytes(blob)]))
  const textOf = (path: string) => texts.get(oids.get(path) ?? '') ?? null
  const bytesOf = (path: string) => blobs.get(oids.get(path) ?? '')?.length ?? 0

  // Policy: what every manifest says, then what all of them withhold.
  const manifests = new Map<string, Manifest>()
  const closed: string[] = []
  for (const { path, mode, bytes } of entries) {
    if (posix.basename(path) !== 'SKILLSET.md' || mode === '160000') continue
    const manifest = mode === '120000' || bytes > 64 * KIB ? 'closed' : readManifest(textOf(path))
    if (manifest === 'closed') closed.push(folderOf(path))
    else if (manifest !== 'document') manifests.set(folderOf(path), { ...manifest, path })
  }
  const withheld = new Set(entries.map(({ path }) => path).filter(path => closed.some(folder => isBelow(folder, path))))
  for (const [folder, { exclude }] of manifests) {
    const below = entries.map(({ path }) => path).filter(path => isBelow(folder, path))
    for (const path of ignoredBelow(gitDir, folder, exclude, below)) withheld.add(path)
  }

  // A path below a symlink is withheld with the file that it leads to.
  for (const { path, target } of regular) if (target !== undefined && withheld.has(target)) withheld.add(path)

  // Skills, and whose every file is.
  const skillPaths = small
    .map(({ path }) => path)
    .filter(path => posix.basename(path) === 'SKILL.md' && !withheld.has(path) && textOf(path) !== null)
    .filter(path => !path.split('/').some(segment => segment === 'node_modules' || segment === '__pycache__'))
  const skillFolders = new Set(skillPaths.map(folderOf))
  const findOwner = (path: string): string | null => {
    for (let folder = folderOf(path); ; folder = folderOf(folder)) {
      if (folder !== '' && skillFolders.has(folder)) return folder
      if (folder !== '') continue
      const [top, ...more] = path.split('/')
      return skillFolders.has('') && (more.length === 0 || FOLDERS_OF_A_ROOT_SKILL.includes(top ?? '')) ? '' : null
    }
  }
  // A second path to a skill or document is none by itself.
  const isSecond = ({ path, target }: (typeof regular)[number]) => {
    if (target === undefined) return false
    if (posix.basename(path) === 'SKILL.md') return posix.basename(target) === 'SKILL.md'
    return findOwner(target) !== null || kindOf(target, null, manifests) === 'document'
  }
  const second = new Set(regular.filter(isSecond).map(({ path }) => path))
  const owners = new Map(regular.map(({ path }) => [path, findOwner(path)]))
  const ownerOf = (path: string) => owners.get(path) ?? null
  const kindOfFile = (path: string) => {
    const kind = kindOf(path, ownerOf(path), manifests)
    return kind === 'document' && second.has(path) ? 'community' : kind
  }
  const kinds = new Map(regular.filter(({ path }) => !withheld.has(path)).map(({ path }) => [path, kindOfFile(path)]))
  const filesByOwner = Map.groupBy(
    [...kinds].filter(([, kind]) => kind === 'supporting').map(([path]) => path),
    ownerOf,
  )
  const splits = new Map(skillPaths.map(path => [path, splitSkill(textOf(path) ?? '')]))

  const readSkill = (path: string, isServed: IsServed): ExpectedSkill => {
    const directory = folderOf(path)
    const { fields, body } = splits.get(path) as ReturnType<typeof splitSkill>
    const { rules, rulesMissing } = rulesFor(directory, manifests)
    const delivered = [path, ...rules.map(rule => rule.path)]
    const { includes, includesMissing } = includesFor(directory, manifests, fields, delivered, target => {
      const content = kinds.has(target) && isServed(target) ? textOf(target) : null
      return content === null ? null : { text: content, bytes: bytesOf(target) }
    })
    return {
      path,
      directory,
      internal: internal.has(directory),
      isSecond: second.has(path),
      files: filesByOwner.get(directory) ?? [],
      context: { rules, body, includes },
      complete: !rulesMissing && !includesMissing,
    }
  }
  const isInternal = ([, { fields }]: [string, ReturnType<typeof splitSkill>]) => isYes(mappingOf(fields, 'metadata').internal)
  const internal = new Set([...splits].filter(one => isInternal(one) || second.has(one[0])).map(([path]) => folderOf(path)))
  const isListed = (path: string, kind: Kind) =>
    kind === 'document' || ((kind === 'skill' || kind === 'supporting') && !internal.has(ownerOf(path) ?? ''))
  const pathsWhere = (wanted: (path: string, kind: Kind) => boolean) =>
    [...kinds].filter(([path, kind]) => wanted(path, kind)).map(([path]) => path)
  const tree: Omit<Oracle, 'skills'> = {
    listed: new Set(pathsWhere(isListed)),
    documents: new Set(pathsWhere((_, kind) => kind === 'document')),
    pages: new Map(
      pathsWhere((path, kind) => kind === 'supporting' && isListed(path, kind) && /\.(?:md|mdx|markdown)$/i.test(path)).map(
        path => [path, ownerOf(path) ?? ''],
      ),
    ),
    readable: new Map(pathsWhere((_, kind) => kind !== 'nothing').map(path => [path, textOf(path)])),
    unlisted: new Set(pathsWhere((_, kind) => kind === 'nothing')),
    withheld,
    manifests: new Map([...manifests.values()].filter(({ path }) => !withheld.has(path)).map(one => [one.path, one])),
    fileOf(path) {
      const entry = regularByPath.get(path)
      return entry === undefined ? null : { oid: entry.oid, isExecutable: entry.mode === '100755' }
    },
    links: new Set(entries.filter(({ mode }) => mode === '120000').map(({ path }) => path)),
    textOf,
  }
  return isServed => ({ ...tree, skills: skillPaths.map(path => readSkill(path, isServed)) })
}

const KIB = 1024
const FOLDERS_OF_A_ROOT_SKILL = ['references', 'scripts', 'assets', 'templates', 'examples']

export interface Manifest {
  path: string
  include: string[]
  exclude: string[]
  rules: string
}

type Kind = 'skill' | 'supporting' | 'document' | 'overview' | 'community' | 'manifest' | 'nothing'

function textOfBytes(bytes: Buffer): string | null {
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text, 'utf8').equals(bytes) && !bytes.includes(0)
  return isText && !(bytes.length < 200 && text.startsWith('version https://git-lfs.')) ? text : null
}

function readManifest(text: string | null): Omit<Manifest, 'path'> | 'closed' | 'document' {
  if (text === null) return 'closed'
  const { fence, fields, body } = splitParts(text)
  if (fence === 'none') return 'document'
  if (fence === 'open' || fields === null) return 'closed'
  const { exclude = [], include = [] } = fields
  if (!Array.isArray(exclude) || !exclude.every(pattern => typeof pattern === 'string')) return 'closed'
  if (exclude.length > 200 || exclude.some(pattern => pattern.length > 500)) return 'closed'
  const lines = body.split('\n')
  while (lines.length > 0 && lines[0]?.trim() === '') lines.shift()
  while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop()
  return { include: wordsOf(include), exclude, rules: lines.join('\n').replace(/\r$/, '') }
}

function kindOf(path: string, owner: string | null, manifests: ReadonlyMap<string, Manifest>): Kind {
  const name = posix.basename(path)
  if (name === 'SKILLSET.md' && manifests.has(folderOf(path))) return 'manifest'
  if (owner !== null && name === 'SKILL.md') return path === posix.join(owner, name) ? 'skill' : 'nothing'
  if (owner !== null) return 'supporting'
  const folders = path.split('/')
  if (name === 'SKILL.md' || folders.some(segment => VENDORED.includes(segment))) return 'nothing'

  const extension = EXTENSIONS.find(ending => name.toLowerCase().endsWith(ending)) ?? ''
  const stem = name.slice(0, name.length - extension.length)
  if (isReadme(stem, extension)) return 'overview'
  if (COMMUNITY.includes(stem) || /^(LICENSE|LICENCE|NOTICE)/.test(name) || stem.endsWith('_TEMPLATE')) return 'community'
  const isMarkdown = ['.md', '.mdx', '.markdown'].includes(extension)
  return isMarkdown && !folders.some(segment => segment.startsWith('.')) ? 'document' : 'nothing'
}

const VENDORED = ['node_modules', 'vendor', 'third_party', '__pycache__']
const EXTENSIONS = ['.md', '.mdx', '.markdown', '.txt', '.rst']
const COMMUNITY = [
  ...['AGENTS', 'CLAUDE', 'GEMINI', 'COPYING', 'CHANGELOG', 'HISTORY', 'CONTRIBUTING', 'CODE_OF_CONDUCT', 'SECURITY', 'SUPPORT'],
  ...['GOVERNANCE', 'MAINTAINERS', 'AUTHORS'],
]

/** `README`, or `README` and a language behind a dot, a dash or an underscore. */
function isReadme(stem: string, extension: string): boolean {
  const rest = stem.toLowerCase().startsWith('readme') ? stem.slice('readme'.length) : null
  if (rest === '') return true
  return rest !== null && extension !== '' && /^[._-][a-z]{2,3}([-_][a-z0-9]{2,4})?$/i.test(rest)
}

function rulesFor(directory: string, manifests: ReadonlyMap<string, Manifest>) {
  const rules: ExpectedContext['rules'] = []
  let bytes = 0
  for (const { path, rules: text } of manifestsAbove(directory, manifests)) {
    if (text === '') continue
    bytes += Buffer.byteLength(text)
    if (bytes > 128 * KIB || rules.length === 16) return { rules, rulesMissing: true }
    rules.push({ path, text })
  }
  return { rules, rulesMissing: false }
}

function includesFor(
  directory: string,
  manifests: ReadonlyMap<string, Manifest>,
  fields: Fields | null,
  delivered: readonly string[],
  read: (path: string) => { text: string; bytes: number } | null,
) {
  const declared = [
    ...manifestsAbove(directory, manifests).flatMap(({ path, include }) =>
      include.map(target => [folderOf(path), target] as const),
    ),
    ...wordsOf(fields?.include ?? mappingOf(fields, 'metadata').include).map(target => [directory, target] as const),
  ]
  const includes = new Map<string, string>()
  let includesMissing = false
  let bytes = 0
  for (const [folder, target] of declared) {
    const path = target.startsWith('/') ? posix.normalize(target.slice(1)) : posix.join(folder, target)
    if (includes.has(path) || delivered.includes(path)) continue
    const found = read(path)
    if (found === null || found.bytes > 64 * KIB) {
      includesMissing = true
      continue
    }
    bytes += found.bytes
    if (includes.size === 16 || bytes > 256 * KIB) {
      includesMissing = true
      break
    }
    includes.set(path, found.text)
  }
  return { includes: [...includes].map(([path, text]) => ({ path, text })), includesMissing }
}

function manifestsAbove(directory: string, manifests: ReadonlyMap<string, Manifest>): Manifest[] {
  return [...manifests]
    .filter(([folder]) => folder === directory || isBelow(folder, directory))
    .sort(([left], [right]) => left.length - right.length)
    .map(([, manifest]) => manifest)
}

function isYes(value: unknown): boolean {
  return typeof value === 'string' && ['true', 'yes', 'on', '1'].includes(value.toLowerCase())
}

function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? '' : folder
}

function isBelow(folder: string, path: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}
