import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { describeDocument, firstParagraph, onOneLine } from './changes-oracle-texts.ts'
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
}

export interface Skill {
  path: string
  name: string
  directory: string
  fields: string
  tools: unknown
  license: License
  full: boolean
  complete: boolean
  rules: Text[]
  body: string
  includes: Text[]
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
  file: { sha256: string; bytes: number } | null
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
        file: isServed ? { sha256: sha256(text), bytes: Buffer.byteLength(text) } : null,
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
    rules: full ? context.rules : [],
    body: full ? context.body : '',
    includes: full ? context.includes : [],
    files: full ? files.flatMap(file => ({ path: file, ...(tree.fileOf(file) ?? { oid: '', isExecutable: false }) })) : [],
    declared: full
      ? [...above.map(one => ({ path: one.path, list: one.include.join(' ') })), { path, list: own.join(' ') }].filter(
          ({ list }) => list !== '',
        )
      : [],
  }
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

export function inBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}
