import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize, resolve } from 'node:path'
import { FAILSAFE_SCHEMA, load } from 'js-yaml'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import { decodeText } from '#core/text.ts'

export const ROOT = resolve('examples/handbook')
export const paths = await listFiles()
export const texts = new Map(await Promise.all(paths.filter(isText).map(async path => [path, await readText(path)] as const)))
export const served = paths.filter(path => !isExcluded(path))
export const manifests = paths.filter(path => baseNameOf(path) === 'SKILLSET.md')
export const skills = served.filter(path => baseNameOf(path) === 'SKILL.md')

async function listFiles(): Promise<RepoPath[]> {
  const entries = await readdir(ROOT, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(ROOT.length + 1) as RepoPath)
    .sort()
}

function isText(path: string): boolean {
  return !path.endsWith('.png')
}

export function isExcluded(path: string): boolean {
  return path.startsWith('drafts/') || path.endsWith('.private.md')
}

async function readText(path: string): Promise<string> {
  const text = decodeText(await readFile(join(ROOT, path)))
  if (text === null) throw new Error(`${path} is not UTF-8 text`)
  return text
}

export function textOf(path: string): string {
  return texts.get(path as RepoPath) ?? ''
}

interface FrontMatter {
  name?: string
  description?: string
  license?: string
  language?: string
  image?: string
  include?: string | string[]
  exclude?: string[]
  metadata?: { include?: string }
  translations?: Record<string, { name?: string; description?: string }>
}

export function split(path: string): { head: FrontMatter; body: string } {
  const match = /^---\n(.*?\n)---\n(.*)$/s.exec(textOf(path))
  if (!match) throw new Error(`${path} has no front matter`)
  return { head: load(match[1] ?? '', { schema: FAILSAFE_SCHEMA }) as FrontMatter, body: match[2] ?? '' }
}

export function includesOf(path: string): string[] {
  const { include = [], metadata } = split(path).head
  return [...(typeof include === 'string' ? include.split(/\s+/) : include), ...(metadata?.include?.split(/\s+/) ?? [])]
}

/** The repository path that a link in a file spells. */
export function targetOf(from: string, link: string): string {
  const path = link.replace(/[#?].*$/, '')
  return path.startsWith('/') ? path.slice(1) : normalize(join(dirname(from), path)).replace(/\/$/, '')
}
