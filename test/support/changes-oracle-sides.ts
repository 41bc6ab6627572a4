import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { describeDocument, firstParagraph, onOneLine, withoutHidden } from './changes-oracle-texts.ts'
import type { Oracle } from './oracle.ts'
import { mappingOf, splitParts, splitSkill, wordsOf } from './oracle-front-matter.ts'

/* What one side delivers, as the oracle of comparisons reads it from the tree of a commit. */

interface License {
  kind: string
  name: string | null
  source: string | null
}

/** One side: what the tree says, and what licenses say of a skill or a document. */
export interface OracleSide {
  tree: Oracle
  servingOf(path: string): { license: License; full: boolean; isText: boolean }
}

export interface Text {
  path: string
  text: string
  /** Lines of the file above the text. */
  above: number
}

export interface Skill {
  path: string
  name: string
  directory: string
  fields: string
  tools: unknown
  /** As listings say it. */
  description: string
  /** The description as its front matter has it. */
  written: Text
  license: License
  full: boolean
  complete: boolean
  rules: Text[]
  body: { text: string; above: number }
  includes: Text[]
  /** Of its files that are text and served. */
  texts: Text[]
  files: { path: string; oid: string; isExecutable: boolean }[]
  declared: { path: string; list: string }[]
}

export interface Document {
  path: string
  name: string
  summary: string
  license: License
  full: boolean
  /** As it is delivered. */
  text: string | null
  /** As it lies in the tree: title and a declared summary are told of every document. */
  written: string
}

export interface ManifestOfSide {
  path: string
  name: string
  rules: string | null
  include: string
  exclude: string
  license: string
  others: string
  file: { sha256: string | null; bytes: number | null }
}

/** What a side delivers below a folder. */
export function readSide({ tree, servingOf }: OracleSide, folder: string) {
  const isBelow = (path: string) => folder === '' || path.startsWith(`${folder}/`)
  const skills = tree.skills
    .filter(({ internal, path }) => !internal && isBelow(path))
    .map(skill => readSkill(tree, servingOf, skill))
  const documents = [...tree.documents].filter(isBelow).map(path => readDocument(tree, servingOf, path))
  const manifests = [...tree.manifests.values()]
    .filter(({ path }) => isBelow(path))
    .map(({ path, rules }): ManifestOfSide => {
      const text = tree.textOf(path) ?? ''
      const { include, exclude = [], license = null, ...others } = splitParts(text).fields ?? {}
      const { full, isText } = servingOf(path)
      const isServed = full && isText
      const isDelivered = tree.skills.some(
        skill => servingOf(skill.path).full && skill.context.rules.some(rule => rule.path === path),
      )
      return {
        path,
        name: path,
        rules: (isServed || isDelivered) && rules !== '' ? rules : null,
        include: JSON.stringify(wordsOf(include)),
        exclude: JSON.stringify(exclude),
        license: JSON.stringify(license),
        others: JSON.stringify(others),
        file: isServed ? { sha256: sha256(text), bytes: Buffer.byteLength(text) } : { sha256: null, bytes: null },
      }
    })
  return { skills, documents, manifests }
}

function readDocument(tree: Oracle, servingOf: OracleSide['servingOf'], path: string): Document {
  const { license, full, isText } = servingOf(path)
  const text = tree.textOf(path) ?? ''
  let described: ReturnType<typeof describeDocument> | null = null
  // Most documents are the same on both sides, and nothing asks for their titles.
  const describe = () => {
    described ??= describeDocument(path, text, full)
    return described
  }
  return {
    path,
    license,
    full,
    text: full && isText ? text : null,
    written: text,
    get name() {
      return describe().title
    },
    get summary() {
      return describe().summary
    },
  }
}

function readSkill(tree: Oracle, servingOf: OracleSide['servingOf'], skill: Oracle['skills'][number]): Skill {
  const { path, directory, context, complete, files } = skill
  const { license, full } = servingOf(path)
  const { fields: parsed, body } = splitSkill(tree.textOf(path) ?? '')
  const { include: _include, metadata, ...fields } = parsed ?? {}
  const { include: _nested, ...otherMetadata } = mappingOf({ metadata }, 'metadata')
  const description = onOneLine(fields.description) || (full ? firstParagraph(body) : '')
  const above = [...tree.manifests.values()].filter(one => {
    const folder = posix.dirname(one.path)
    return folder === '.' || directory === folder || directory.startsWith(`${folder}/`)
  })
  const name = onOneLine(fields.name) || posix.basename(directory)
  const own = wordsOf(parsed?.include ?? mappingOf(parsed, 'metadata').include)
  return {
    path,
    name,
    directory,
    fields: JSON.stringify([fields, otherMetadata, description, name]),
    tools: fields['allowed-tools'] ?? null,
    license,
    full,
    complete: !full || complete,
    description: described(fields.description) || (full ? cutAtWord(firstParagraph(body)) : ''),
    written: writtenDescription(path, tree.textOf(path) ?? '', fields.description),
    rules: full ? context.rules.map(rule => within(rule, tree.textOf(rule.path) ?? '')) : [],
    body: within({ text: full ? context.body : '' }, full ? (tree.textOf(path) ?? '') : ''),
    includes: full ? context.includes.map(one => ({ ...one, above: 0 })) : [],
    texts: full ? files.flatMap(file => servedText(tree, file)) : [],
    files: full ? files.flatMap(file => ({ path: file, ...(tree.fileOf(file) ?? { oid: '', isExecutable: false }) })) : [],
    declared: full ? [...above.map(one => ({ path: one.path, list: one.include.join(' ') })), { path, list: own.join(' ') }] : [],
  }
}

/** A text that ends a file but for blank lines, and how many lines are above it. */
function within<Of extends { text: string }>(of: Of, file: string): Of & { above: number } {
  return { ...of, above: file.slice(0, file.lastIndexOf(of.text)).split('\n').length - 1 }
}

function servedText(tree: Oracle, path: string): Text[] {
  const text = tree.textOf(path)
  const isServed = text !== null && Buffer.byteLength(text) <= 1024 * 1024 && !text.startsWith('version https://git-lfs')
  return isServed ? [{ path, text, above: 0 }] : []
}

/** Without hidden characters, and cut. */
function described(description: unknown): string {
  const visible = typeof description === 'string' ? description.split('\n').map(withoutHidden).join('\n').trim() : ''
  return [...visible].length > 1_024 ? `${[...visible].slice(0, 1_023).join('')}…` : visible
}

/** At most 300 characters. */
function cutAtWord(paragraph: string): string {
  const characters = [...paragraph]
  if (characters.length <= 300) return paragraph
  const cut = characters.slice(0, 299).join('')
  const space = cut.lastIndexOf(' ')
  return `${space > 210 ? cut.slice(0, space).replace(/[\s,;:.–-]+$/, '') : cut}…`
}

/** Where the file has the description on one line, that one; else as it was parsed, at the line of the field. */
function writtenDescription(path: string, file: string, description: unknown): Text {
  const at = file.split('\n').findIndex(line => /^["']?description["']?\s*:/.test(line))
  return { path, text: typeof description === 'string' ? description.replaceAll('\n', ' ') : '', above: Math.max(at, 0) }
}

/** A path in the directory of a skill, by its path in it. */
export function inside(skill: Pick<Skill, 'directory'>, path: string): string {
  const { directory } = skill
  return directory === '' || path.startsWith(`${directory}/`) ? `(skill)/${posix.relative(directory, path)}` : path
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

export function inBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}
