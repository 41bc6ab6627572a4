import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Oracle } from './oracle.ts'

/* What one side delivers, as the oracle of comparisons reads it from the tree of a commit. */

interface License {
  kind: string
  name: string | null
  source: string | null
}

/** One side: what the tree says, and what licenses say of a skill or a document. */
export interface OracleSide {
  tree: Oracle
  servingOf(path: string): { license: License; full: boolean }
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
  tools: string | null
  license: License
  full: boolean
  complete: boolean
  rules: Text[]
  body: string
  includes: Text[]
  files: { path: string; bytes: Buffer; isExecutable: boolean }[]
  declared: { path: string; list: string }[]
}

export interface Document {
  path: string
  name: string
  summary: string
  license: License
  full: boolean
  text: string | null
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
  const documents = [...tree.documents].filter(isBelow).map((path): Document => {
    const { license, full } = servingOf(path)
    const text = tree.textOf(path) ?? ''
    const [, title = posix.basename(path, '.md')] = /^# (.*)$/m.exec(text) ?? []
    const summary = full ? (text.split(/\n{2,}/)[1] ?? '') : ''
    return { path, name: title, summary, license, full, text: full ? text : null }
  })
  const manifests = [...tree.manifests.values()]
    .filter(({ path }) => isBelow(path))
    .map(({ path, rules }): ManifestOfSide => {
      const text = tree.textOf(path) ?? ''
      const isServed = servingOf(path).full
      const isDelivered = tree.skills.some(
        skill => servingOf(skill.path).full && skill.context.rules.some(rule => rule.path === path),
      )
      const field = (name: string) => new RegExp(`^${name}:.*$`, 'm').exec(frontMatterOf(text))?.[0] ?? ''
      return {
        path,
        name: path,
        rules: (isServed || isDelivered) && rules !== '' ? rules : null,
        include: field('include'),
        exclude: field('exclude'),
        license: field('license'),
        others: frontMatterOf(text).replace(/^(?:include|exclude|license):.*\n/gm, ''),
        file: isServed ? { sha256: sha256(text), bytes: Buffer.byteLength(text) } : null,
      }
    })
  return { skills, documents, manifests }
}

function readSkill(tree: Oracle, servingOf: OracleSide['servingOf'], skill: Oracle['skills'][number]): Skill {
  const { path, directory, context, complete, files } = skill
  const { license, full } = servingOf(path)
  const fields = frontMatterOf(tree.textOf(path) ?? '')
  const [, name = posix.basename(directory)] = /^name: (.*)$/m.exec(fields) ?? []
  const above = [...tree.manifests.values()].filter(one => {
    const folder = posix.dirname(one.path)
    return folder === '.' || directory === folder || directory.startsWith(`${folder}/`)
  })
  const [own = ''] = /^include:.*$/m.exec(fields) ?? []
  return {
    path,
    name,
    directory,
    fields: fields.replace(/^include:.*\n/gm, ''),
    tools: /^allowed-tools: (.*)$/m.exec(fields)?.[1] ?? null,
    license,
    full,
    complete: !full || complete,
    rules: full ? context.rules : [],
    body: full ? context.body : '',
    includes: full ? context.includes : [],
    files: full
      ? files.flatMap(file => ({ path: file, ...(tree.fileOf(file) ?? { bytes: Buffer.alloc(0), isExecutable: false }) }))
      : [],
    declared: full
      ? [
          ...above.map(one => ({ path: one.path, list: one.include.join(' ') })),
          { path, list: own.replace(/^include: */, '') },
        ].filter(({ list }) => list !== '')
      : [],
  }
}

function frontMatterOf(text: string): string {
  return /^---\n([\s\S]*?)^---$/m.exec(text)?.[1] ?? ''
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

export function inBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}
